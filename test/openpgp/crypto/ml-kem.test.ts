import { expect, test } from 'vitest'
import { ALGORITHM, type RecipientPoint } from '../../../src/openpgp/crypto/algorithm.ts'
import { freshPair } from '../../../src/openpgp/crypto/curve25519.ts'
import { ML_KEM_768_X25519 as KEM } from '../../../src/openpgp/crypto/ml-kem.ts'
import { publicKeyOf } from '../../../src/openpgp/crypto/public-key.ts'
import {
  openRecipient,
  packRecipientKeys,
  readRecipient,
  recipientBytes,
  recipientKeyStarts,
  unpackRecipientKey,
  writeRecipient,
  type RecipientSecret,
} from '../../../src/openpgp/crypto/recipient.ts'
import { freshSessionKey, padSessionKey } from '../../../src/openpgp/crypto/session-key.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { readOwnSecrets } from '../../../src/openpgp/native/own-secrets.ts'
import { concat, hex, seeded } from '../../support/openpgp-bytes.ts'
import {
  SEALED_BYTES,
  compositeBody,
  compositePerson,
  draftVector,
  mlKem,
  mlKemPkesk,
  openMlKem,
} from '../../support/openpgp-ml-kem.ts'
import { MADE_MS, alice } from '../../support/openpgp-people.ts'
import { sessionKey, type CipherId } from '../../support/openpgp-sealed.ts'
import { flipBit } from '../../support/openpgp-flips.ts'

const carol = compositePerson('carol', MADE_MS)
const dave = compositePerson('dave', MADE_MS)

function own({ secret, kem }: typeof carol): RecipientSecret {
  const found = readOwnSecrets(secret).get(kem.keyId)
  if (found === undefined) throw new Error('no secret')
  return found as RecipientSecret
}

const bodyOf = (packets: Uint8Array): Buffer => {
  for (const { body } of packetsOf(packets)) return Buffer.from(body)
  throw new Error('nothing')
}

const forCarol = bodyOf(mlKemPkesk(carol.kem, sessionKey('carol')))

function formOf(body: Uint8Array) {
  const form = readRecipient(body)
  if (form === null) throw new Error('not read')
  return form
}

test('the sample message of the ML-KEM draft yields its shared secrets and its session key', () => {
  const secrets = readOwnSecrets(dearmor(draftVector('sk'), 'PRIVATE KEY BLOCK') ?? Buffer.alloc(0))
  const secret = secrets.get('a4f95f985ed61a51') as RecipientSecret
  expect(hex(secret.fingerprint)).toBe('e51dbfea51936988b5428fffa4f95f985ed61a51')
  const message = dearmor(draftVector('message-v1'), 'MESSAGE') ?? Buffer.alloc(0)
  const form = formOf(bodyOf(message))
  const shares =
    '16f2aea8ec1ca277c04cc7b87681d7d38511a38f554775a8fc4de41aa76eb586' +
    '2fc0c8fcace9636c86d1ee1715a302819ad48c549579a462a33eed36627c532e'
  expect(KEM.agree(form, secret.secret)?.toString('hex')).toBe(shares)
  const opened = openRecipient(form, secret)
  expect(opened).toMatchObject({ cipher: 9 })
  expect(hex(opened?.data ?? Buffer.alloc(0))).toBe(
    'b4dc7197e1519822ca689da484643edf272934d98ae1974b5d88317a7a6a3c4f',
  )
})

test('the ML-KEM subkey of the draft’s certificate is read and passes the soundness check', () => {
  const certificate = dearmor(draftVector('pk'), 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0)
  const [subkey] = [...packetsOf(certificate)].filter(({ tag }) => tag === 14)
  const key = publicKeyOf(subkey?.body ?? Buffer.alloc(0))
  expect(key).toMatchObject({ algorithm: 35, createdS: Date.UTC(2025, 0, 1) / 1000 })
  expect(KEM.isSound(key?.point ?? Buffer.alloc(0))).toBe(true)
})

test.each([7, 9] as const)(
  'a second implementation opens a PKESK packet that `writeRecipient` wrote with cipher %i',
  (id) => {
    const key = freshSessionKey(id === 7 ? 'aes128' : 'aes256')
    const recipient: RecipientPoint = {
      algorithm: ALGORITHM.mlKem768X25519,
      fingerprint: Buffer.from(carol.kem.fingerprint, 'hex'),
      point: carol.kem.point,
    }
    const bytes = recipientBytes(35, id)
    expect(bytes).toBe(3 + 10 + SEALED_BYTES + 2 + key.data.length + 8)
    const target = Buffer.alloc(bytes + 2)
    const padded = { ...key, padded: padSessionKey(key) }
    writeRecipient(padded, freshPair(), { recipient, target, at: 1 })
    expect([target[0], target.at(-1)]).toEqual([0, 0])
    const body = bodyOf(target.subarray(1, -1))
    expect(openMlKem(body, carol.kem)).toEqual({ cipher: id, data: Buffer.from(key.data) })
    expect(openRecipient(formOf(body), own(carol))).toEqual({
      cipher: id,
      data: Buffer.from(key.data),
    })
    expect(openRecipient(formOf(body), own(dave))).toBeNull()
  },
)

test('two ML-KEM PKESK packets for one session key share neither ciphertext nor wrapped key', () => {
  const key = freshSessionKey('aes256')
  const recipient = unpackRecipientKey(packRecipientKeys([own(carol).key as never]), 0)
  const [one, other] = [0, 1].map(() => {
    const target = Buffer.alloc(recipientBytes(35, 9))
    writeRecipient({ ...key, padded: padSessionKey(key) }, freshPair(), {
      recipient,
      target,
      at: 0,
    })
    return formOf(bodyOf(target))
  })
  expect(one?.ephemeral.subarray(0, 32)).not.toEqual(other?.ephemeral.subarray(0, 32))
  expect(one?.ephemeral.subarray(32)).not.toEqual(other?.ephemeral.subarray(32))
  expect(one?.wrapped).not.toEqual(other?.wrapped)
})

test.each([7, 8, 9] as CipherId[])(
  '`openRecipient` opens an ML-KEM PKESK packet of a second implementation with cipher %i',
  (id) => {
    for (let n = 0; n < 8; n++) {
      const key = sessionKey(`others ${n}`, id)
      const form = formOf(bodyOf(mlKemPkesk(carol.kem, key, `n ${n}`)))
      expect(openRecipient(form, own(carol))).toEqual(key)
      expect(openRecipient(form, own(dave))).toBeNull()
    }
  },
)

test('`packRecipientKeys` packs ML-KEM keys among Curve25519 keys, and each unpacks by its offset', () => {
  const keys = [alice.subkey, carol.kem, alice.subkey, dave.kem].map(({ body }) =>
    publicKeyOf(body),
  )
  const packed = packRecipientKeys(keys as never)
  const starts = recipientKeyStarts(packed)
  expect(starts).toEqual([0, 37, 37 + 1221, 74 + 1221])
  expect(starts.map((at) => hex(unpackRecipientKey(packed, at).fingerprint))).toEqual(
    [alice.subkey, carol.kem, alice.subkey, dave.kem].map(({ fingerprint }) => fingerprint),
  )
})

const at = 10 + SEALED_BYTES
test.each([
  ['without its last byte', forCarol.subarray(0, -1)],
  ['with an extra byte', concat(forCarol, 0)],
  [
    'whose length field is too small',
    concat(forCarol.subarray(0, at), 40, forCarol.subarray(at + 1)),
  ],
  ['for CAST5', concat(forCarol.subarray(0, at + 1), 2, forCarol.subarray(at + 2))],
  [
    'with a 32-byte key for AES-128',
    concat(forCarol.subarray(0, at + 1), 7, forCarol.subarray(at + 2)),
  ],
  [
    'with a 16-byte key for AES-256',
    concat(forCarol.subarray(0, at), 25, 9, forCarol.subarray(at + 2, at + 26)),
  ],
  ['without a ciphertext', forCarol.subarray(0, 42)],
  ['without any fields', forCarol.subarray(0, 10)],
])('`readRecipient` rejects an ML-KEM PKESK packet %s', (_, body) => {
  expect(readRecipient(body)).toBeNull()
})

test('an ML-KEM PKESK packet whose ephemeral X25519 point has low order does not open', () => {
  const form = formOf(forCarol)
  for (const point of [Buffer.alloc(32), concat(1, Buffer.alloc(31))]) {
    const ephemeral = concat(point, form.ephemeral.subarray(32))
    expect(openRecipient({ ...form, ephemeral }, own(carol))).toBeNull()
  }
})

test('an ML-KEM PKESK packet with a flipped bit in either ciphertext or the wrapped key does not open', () => {
  const form = formOf(forCarol)
  const spoilt = (bytes: Buffer, bit: number): Buffer => {
    return flipBit(bytes, bit)
  }
  // The highest bit of a point is ignored in the agreement, and bound by the combiner.
  for (const bit of [0, 255, 256, 257, 5000, SEALED_BYTES * 8 - 1]) {
    expect(
      openRecipient({ ...form, ephemeral: spoilt(form.ephemeral, bit) }, own(carol)),
    ).toBeNull()
  }
  for (const bit of [0, 100, form.wrapped.length * 8 - 1]) {
    expect(openRecipient({ ...form, wrapped: spoilt(form.wrapped, bit) }, own(carol))).toBeNull()
  }
})

test('an ML-KEM public key with a low-order point, a coefficient above the modulus or a wrong length fails', () => {
  const { point } = carol.kem
  const lowOrder = concat(Buffer.alloc(32), point.subarray(32))
  const coefficient = concat(point.subarray(0, 32), 0xff, 0xff, point.subarray(34))
  /** 3329, the modulus itself: the least that is refused; 3328 is the greatest coefficient. */
  const modulus = concat(
    point.subarray(0, 32),
    0x01,
    ((point[33] ?? 0) & 0xf0) | 0x0d,
    point.subarray(34),
  )
  const greatest = concat(
    point.subarray(0, 32),
    0x00,
    ((point[33] ?? 0) & 0xf0) | 0x0d,
    point.subarray(34),
  )
  expect([point, lowOrder, coefficient, modulus, greatest].map((one) => KEM.isSound(one))).toEqual([
    true,
    false,
    false,
    false,
    true,
  ])
  for (const odd of [point.subarray(1), concat(point, 0), Buffer.alloc(0)]) {
    expect(KEM.isSound(odd)).toBe(false)
    expect(publicKeyOf(compositeBody(odd, MADE_MS))).toBeNull()
  }
})

test('an ML-KEM secret of 96 bytes yields the public key of a second implementation; other lengths fail', () => {
  const secret = KEM.readSecret(carol.kem.material)
  expect(secret && hex(KEM.publicOf(secret))).toBe(hex(carol.kem.point))
  for (const length of [0, 32, 64, 95, 97]) {
    expect(KEM.readSecret(seeded('odd', length))).toBeNull()
  }
})

test('`readOwnSecrets` omits an ML-KEM secret that does not match its public key', () => {
  const another = mlKem('another', MADE_MS)
  const swapped = compositePerson('carol', MADE_MS)
  const secret = Buffer.from(swapped.secret)
  const place = secret.indexOf(carol.kem.material.subarray(32))
  secret.set(another.material.subarray(32), place)
  expect(readOwnSecrets(secret).has(carol.kem.keyId)).toBe(false)
})
