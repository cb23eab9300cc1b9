import { expect, test } from 'vitest'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { readMpi } from '../../../src/openpgp/bytes.ts'
import { writeMpi } from '../../../src/openpgp/format/packet-writer.ts'
import { isRecipientSecret, readOwnSecrets } from '../../../src/openpgp/native/own-secrets.ts'
import {
  openRecipient,
  readRecipient,
  recipientBytes,
  writeRecipient,
  type RecipientForm,
} from '../../../src/openpgp/crypto/recipient.ts'
import {
  freshSessionKey,
  padSessionKey,
  unpadSessionKey,
  unwrapKey,
  wrapKey,
} from '../../../src/openpgp/crypto/session-key.ts'
import { freshPair } from '../../../src/openpgp/crypto/curve25519.ts'
import { ECDH } from '../../../src/openpgp/crypto/ecdh.ts'
import { ED25519, EDDSA_LEGACY } from '../../../src/openpgp/crypto/ed25519.ts'
import { X25519 } from '../../../src/openpgp/crypto/x25519.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { mpi, concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { MADE_MS, bot, mallory, personOf } from '../../support/openpgp-people.ts'
import { pkeskBody, sessionKey } from '../../support/openpgp-sealed.ts'
import { hasWycheproof, wycheproof } from '../../support/wycheproof.ts'
import { ed25519Native, x25519Native, x25519Pkesk } from '../../support/openpgp-x25519.ts'
import { flipBit, flipByte } from '../../support/openpgp-flips.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))

const KEK = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'

test.each([
  ['4.1', 128, 128, '1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5'],
  ['4.3', 128, 256, '64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7'],
  [
    '4.6',
    256,
    256,
    '28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21',
  ],
])(
  'AES key wrap matches RFC 3394, %s: %i bits under a key of %i bits',
  (_, bits, kekBits, expected) => {
    const kek = bytes(KEK).subarray(0, kekBits / 8)
    const key = bytes('00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f')
    const wrapped = bytes(expected)
    expect(wrapKey(Buffer.from(kek), key.subarray(0, bits / 8))).toEqual(wrapped)
    expect(unwrapKey(Buffer.from(kek), wrapped)).toEqual(key.subarray(0, bits / 8))
  },
)

test('AES key unwrap rejects each flipped bit of the wrapped key, and of the wrapping key', () => {
  const kek = seeded('kek', 16)
  const wrapped = wrapKey(Buffer.from(kek), seeded('data', 40))
  for (let bit = 0; bit < wrapped.length * 8; bit++) {
    const spoilt = flipBit(wrapped, bit)
    expect(unwrapKey(Buffer.from(kek), spoilt)).toBeNull()
    const other = Buffer.from(kek)
    other[bit & 15] = (other[bit & 15] ?? 0) ^ (1 << (bit & 7))
    expect(unwrapKey(Buffer.from(other), wrapped)).toBeNull()
  }
  for (const length of [0, 8, 15, 47, 49]) {
    expect(unwrapKey(Buffer.from(kek), seeded('short', length))).toBeNull()
  }
})

interface WrapCase {
  tcId: number
  keySize: number
  key: string
  msg: string
  ct: string
  result: string
}

test.skipIf(!hasWycheproof)('AES key wrap with 128-bit keys passes the Wycheproof cases', () => {
  const all = wycheproof<WrapCase>('aes_wrap_test.json').filter(({ keySize }) => keySize === 128)
  expect(all.length).toBeGreaterThan(0)
  for (const { tcId, key, msg, ct, result } of all) {
    const unwrapped = unwrapKey(bytes(key), bytes(ct))
    expect(unwrapped?.toString('hex') ?? null, `case ${tcId}`).toBe(result === 'valid' ? msg : null)
    if (result === 'valid') expect(wrapKey(bytes(key), bytes(msg)).toString('hex')).toBe(ct)
  }
})

test('`unpadSessionKey` rejects a wrong padding, checksum or length', () => {
  const padded = padSessionKey({ cipher: 9, data: seeded('key', 32) })
  for (let at = 0; at < padded.length; at++) {
    if (at === 0) continue
    const spoilt = flipByte(padded, at, 0x40)
    expect(unpadSessionKey(spoilt), `byte ${at}`).toBeNull()
  }
  for (const odd of ['', '00', '08'.repeat(8), 'ff'.repeat(24)]) {
    expect(unpadSessionKey(bytes(odd))).toBeNull()
  }
})

test('`unpadSessionKey` rejects a session key without padding and accepts one of a single byte', () => {
  // the checksum ends with zero, as if that were the padding
  expect(unpadSessionKey(bytes('0980800100'))).toBeNull()
  expect(unpadSessionKey(bytes('0905000504040404'))).toEqual({ cipher: 9, data: bytes('05') })
  // no room for a cipher and a checksum
  expect(unpadSessionKey(bytes('0000000505050505'))).toBeNull()
})

test.each([
  ['01', '000101'],
  ['80', '000880'],
  ['00ff', '0008ff'],
  ['0000', '0000'],
  ['7f00', '000f7f00'],
  ['ff'.repeat(32), `0100${'ff'.repeat(32)}`],
])('the integer %s is written as the MPI %s, and read back', (number, written) => {
  const value = bytes(number)
  expect(writeMpi(value).toString('hex')).toBe(written)
  const read = Buffer.alloc(value.length)
  expect([readMpi(bytes(written), read), read]).toEqual([written.length / 2, value])
})

test.each([
  ['that is too long', '001101ff00', 2],
  ['with fewer bits declared', '0007ff', 2],
  ['with more bits declared', '000901ff'.replace('01ff', '00ff'), 2],
  ['that is cut short', '0010ff', 2],
  ['of one zero byte', '00', 2],
  ['of half a length', '01', 2],
  ['of no bytes', '', 2],
])('`readMpi` rejects an MPI %s', (_, written, size) => {
  expect(readMpi(bytes(written), Buffer.alloc(size))).toBeNull()
})

const secretsOf = (person: typeof bot): ReturnType<typeof readOwnSecrets> =>
  readOwnSecrets(person.unlocked.bytes)

test('an Ed25519 secret seed with leading zero bytes is read', () => {
  const labels = Array.from({ length: 3000 }, (_, index) => `short ${index}`)
  const short = labels.filter((label) => seeded(`ed25519 ${label}`, 32)[0] === 0)
  expect(short.length).toBeGreaterThan(3)
  for (const label of short) {
    const primary = ed25519(label, MADE_MS)
    const person = personOf(label, primary, bot.subkey)
    expect([...secretsOf(person).keys()]).toContain(primary.keyId)
  }
})

/** The body of the one packet, which openers are given. */
function formOf(framed: Uint8Array): RecipientForm | null {
  for (const { body } of packetsOf(framed)) return readRecipient(body)
  return null
}

const own = (person: typeof bot) => {
  const secret = secretsOf(person).get(person.subkey.keyId)
  if (secret === undefined || !isRecipientSecret(secret)) throw new Error('no such secret')
  return secret
}

test.each([bot, modern])(
  'a PKESK packet for $name opens with the secret of $name and with no other',
  (person) => {
    const secret = own(person)
    for (const cipher of ['aes128', 'aes256'] as const) {
      const key = freshSessionKey(cipher)
      const recipient = { ...secret.key, fingerprint: secret.fingerprint }
      const target = Buffer.alloc(recipientBytes(recipient.algorithm, key.cipher) + 2)
      const wrapped = { ...key, padded: padSessionKey(key) }
      writeRecipient(wrapped, freshPair(), { recipient, target, at: 1 })
      expect([target[0], target.at(-1)]).toEqual([0, 0])
      const form = formOf(target.subarray(1, -1))
      expect(form?.keyId).toBe(person.subkey.keyId)
      if (form === null) continue
      expect(openRecipient(form, secret)).toEqual(key)
      const { secret: another } = own(mallory)
      expect(openRecipient(form, { ...secret, secret: another })).toBeNull()
    }
  },
)

const usual = pkeskBody(bot.subkey, sessionKey('usual'), 'usual')

const [{ body: plain } = { body: Buffer.alloc(0) }] = packetsOf(
  x25519Pkesk(modern.subkey, sessionKey('usual'), 'usual'),
)

test.each([
  ['of version 6', concat(6, usual.subarray(1))],
  ['for RSA', concat(usual.subarray(0, 9), 1, mpi(seeded('rsa', 256)))],
  ['with another point length', concat(usual.subarray(0, 10), u16(262), usual.subarray(12))],
  ['with a compressed point', concat(usual.subarray(0, 12), 0x41, usual.subarray(13))],
  ['cut short', usual.subarray(0, -1)],
  ['with something after it', concat(usual, 0)],
  ['with a key of odd length', concat(usual.subarray(0, 45), 8, seeded('odd', 8))],
  ['with a smaller length', concat(usual.subarray(0, 45), 40, usual.subarray(46))],
  ['of X25519, cut short', plain.subarray(0, -1)],
  ['of X25519, with a smaller length', concat(plain.subarray(0, 42), 33, plain.subarray(43))],
  [
    'of X25519, with a key of odd length',
    concat(plain.subarray(0, 42), 17, plain.subarray(43, 60)),
  ],
  ['of no bytes', Buffer.alloc(0)],
])('`readRecipient` rejects a PKESK packet %s', (_, body) => {
  expect(readRecipient(body)).toBeNull()
})

test('an ECDH PKESK packet with any bit of its wrapped key flipped does not open', () => {
  const form = readRecipient(usual)
  if (form === null) throw new Error('not read')
  for (let bit = 0; bit < form.wrapped.length * 8; bit++) {
    const wrapped = flipBit(form.wrapped, bit)
    expect(openRecipient({ ...form, wrapped }, own(bot))).toBeNull()
  }
})

test('`readSecret` rejects a secret of a wrong length for each Curve25519 and Ed25519 algorithm', () => {
  const scalar = seeded('a scalar', 32)
  for (const algorithm of [ECDH, EDDSA_LEGACY]) {
    expect(algorithm.readSecret(mpi(scalar))).not.toBeNull()
    for (const odd of [Buffer.alloc(0), mpi(scalar).subarray(1), concat(mpi(scalar), 0)]) {
      expect(algorithm.readSecret(odd)).toBeNull()
    }
  }
  for (const algorithm of [X25519, ED25519]) {
    expect(algorithm.readSecret(scalar)).not.toBeNull()
    for (const length of [0, 31, 33]) {
      expect(algorithm.readSecret(seeded('odd', length))).toBeNull()
    }
  }
})

test('an X25519 PKESK packet without a cipher id yields no session key', () => {
  const form = readRecipient(plain)
  const { secret, key } = own(modern)
  if (form === null) throw new Error('not read')
  const ours = { ...key, fingerprint: Buffer.alloc(20) }
  const agreed = () => X25519.agree(form, secret) ?? Buffer.alloc(0)
  expect(X25519.unwrap(form, ours, agreed())).toMatchObject({ cipher: 9 })
  expect(X25519.unwrap({ ...form, cipher: null }, ours, agreed())).toBeNull()
})

test('an ECDH PKESK packet whose ephemeral point has low order does not open', () => {
  const form = readRecipient(usual)
  if (form === null) throw new Error('not read')
  for (const ephemeral of [Buffer.alloc(32), concat(1, Buffer.alloc(31))]) {
    expect(openRecipient({ ...form, ephemeral }, own(bot))).toBeNull()
  }
})
