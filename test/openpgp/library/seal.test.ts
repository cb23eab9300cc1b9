import { generateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import type { SealRequest } from '../../../src/openpgp/engine.ts'
import type { Cipher } from '../../../src/openpgp/format/ciphers.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { seal } from '../../../src/openpgp/library/seal.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openArmored, sealHere } from '../../support/openpgp-engine.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  bot,
  mallory,
  preferring,
  testPerson,
} from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  userId,
} from '../../support/openpgp-certificate.ts'
import { expiresAfter, keyExpiresAfter } from '../../support/openpgp-signature.ts'

const DAY_MS = 86_400_000

interface Options {
  certificates?: string[]
  cipher?: Cipher
  text?: string
  nowMs?: number
}

async function sealed({ nowMs = NOW_MS, ...options }: Options = {}): Promise<string> {
  const request = { text: 'hello', certificates: [alice.certificate], signer: bot.unlocked }
  return await sealHere({ ...request, cipher: 'aes256', ...options }, nowMs)
}

const packets = (armored: string): { tag: number; body: Buffer }[] =>
  [...packetsOf(dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0))].map(({ tag, body }) => ({
    tag,
    body: Buffer.from(body),
  }))

/** Key ids that the recipient packets name, in order. */
const named = (armored: string): string[] =>
  packets(armored)
    .filter(({ tag }) => tag === 1)
    .map(({ body }) => body.subarray(1, 9).toString('hex'))

const recipientSizes = (armored: string): number[] =>
  packets(armored).flatMap(({ tag, body }) => (tag === 1 ? [body.length + 2] : []))

test('a message is sealed to every recipient and to ourselves, each once', async () => {
  const message = await sealed({ certificates: [alice.certificate, mallory.certificate] })
  expect(named(message).toSorted()).toEqual(
    [alice.subkey.keyId, mallory.subkey.keyId, bot.subkey.keyId].toSorted(),
  )
})

test('a certificate given twice, and our own, are still recipients once', async () => {
  const crlf = alice.certificate.replaceAll('\n', '\r\n')
  const certificates = [alice.certificate, alice.certificate, crlf, bot.certificate]
  expect(named(await sealed({ certificates })).toSorted()).toEqual(
    [alice.subkey.keyId, bot.subkey.keyId].toSorted(),
  )
})

test('without recipients it is sealed to ourselves alone', async () => {
  expect(named(await sealed({ certificates: [] }))).toEqual([bot.subkey.keyId])
})

test('everybody opens it, and finds our signature on it', async () => {
  const text = 'grüße, 世界 🌍\nline two\n'
  const message = await sealed({ certificates: [alice.certificate, mallory.certificate], text })
  for (const reader of [alice, mallory, bot]) {
    const opened = await openArmored(message, [reader.unlocked])
    expect(opened).toMatchObject({
      outcome: 'opened',
      text,
      openedWith: reader.primary.fingerprint,
    })
    if (opened.outcome !== 'opened') continue
    expect(opened.signatures).toMatchObject([{ issuerKeyId: bot.primary.keyId, createdMs: NOW_MS }])
    expect(await verify(opened.signed, bot.certificate, NOW_MS)).toEqual(['valid'])
    expect(await verify(opened.signed, alice.certificate, NOW_MS)).toEqual(['other-key'])
  }
})

test('it is known again by what opening it gives', async () => {
  const request = { text: 'a\r\nb', certificates: [alice.certificate], signer: bot.unlocked }
  const known = await seal({ ...request, cipher: 'aes256' }, NOW_MS)
  const opened = await openArmored(known.armored, [alice.unlocked])
  expect(opened).toMatchObject({
    dataDigest: known.dataDigest,
    signatures: [{ digest: known.statementDigest }],
  })
  const again = await seal({ ...request, cipher: 'aes256' }, NOW_MS)
  expect(again.dataDigest).not.toBe(known.dataDigest)
})

test('its signature names everybody whom it is for, and nobody where that is left out', async () => {
  const request = { text: 'hello', certificates: [alice.certificate, mallory.certificate] }
  for (const isUnnamed of [undefined, false, true]) {
    const how = { ...request, signer: bot.unlocked, cipher: 'aes256', isUnnamed } as const
    const opened = await openArmored(await sealHere(how as SealRequest, NOW_MS), [alice.unlocked])
    if (opened.outcome !== 'opened') throw new Error(opened.outcome)
    const names = [alice, mallory, bot].map(({ primary }) => primary.fingerprint)
    expect(opened.signatures[0]?.intended).toEqual(isUnnamed === true ? [] : names)
    expect(await verify(opened.signed, bot.certificate, NOW_MS)).toEqual(['valid'])
  }
})

test('nobody else opens it', async () => {
  expect(await openArmored(await sealed(), [mallory.unlocked])).toEqual({
    outcome: 'not-recipient',
  })
})

test('the armor has no headers', async () => {
  const lines = (await sealed()).split('\n')
  expect(lines.slice(0, 2)).toEqual(['-----BEGIN PGP MESSAGE-----', ''])
})

test('recipient packets are version 3 and the container version 1, which all programs read', async () => {
  const all = packets(await sealed())
  expect(all.map(({ tag, body }) => [tag, body[0]])).toEqual([
    [1, 3],
    [1, 3],
    [18, 1],
  ])
})

test('that stays so when every recipient says that it knows newer ones', async () => {
  const { publicKey } = await generateKey({
    type: 'curve25519',
    userIDs: [{ name: 'new' }],
    date: new Date(MADE_MS),
    config: { aeadProtect: true },
    format: 'armored',
  })
  const all = packets(await sealed({ certificates: [publicKey] }))
  expect(all.map(({ tag, body }) => [tag, body[0]])).toEqual([
    [1, 3],
    [1, 3],
    [18, 1],
  ])
})

test('two seals of the same words share nothing that is encrypted', async () => {
  const [one, two] = [packets(await sealed()), packets(await sealed())]
  expect(one.at(-1)?.body.subarray(1, 40)).not.toEqual(two.at(-1)?.body.subarray(1, 40))
  expect(one[0]?.body.subarray(10)).not.toEqual(two[0]?.body.subarray(10))
})

test('AES-256 where all list it, AES-128 when it is asked for', async () => {
  expect(recipientSizes(await sealed())).toEqual([96, 96])
  expect(recipientSizes(await sealed({ cipher: 'aes128' }))).toEqual([80, 80])
})

test.each([
  ['lists AES-256', preferring(9, 7), 96],
  ['lists AES-256 last', preferring(3, 2, 7, 8, 9), 96],
  ['lists AES-128 alone', preferring(7), 80],
  ['lists old ciphers alone', preferring(2, 3), 80],
  ['lists nothing', preferring(), 80],
])('beside a recipient who %s, packets have the size of that cipher', async (_, choosy, size) => {
  const certificates = [alice.certificate, choosy.certificate]
  expect(recipientSizes(await sealed({ certificates }))).toEqual([size, size, size])
})

test.each([60, 200, 299])(
  'a certificate dated %i s ahead of our clock is sealed to',
  async (seconds) => {
    const fast = testPerson('fast', NOW_MS + seconds * 1000)
    const message = await sealed({ certificates: [fast.certificate, alice.certificate] })
    expect(named(message)).toHaveLength(3)
    const opened = await openArmored(message, [fast.unlocked])
    expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
    expect(opened.outcome === 'opened' && opened.signatures[0]?.createdMs).toBe(NOW_MS)
  },
)

test('a self-signature that ends in a minute holds nobody up, and is sealed to until then', async () => {
  const { primary, subkey } = alice
  const soonS = (NOW_MS - MADE_MS) / 1000 + 60
  const id = userId(primary, 'alice', { hashed: [expiresAfter(soonS)] })
  const ending = armoredCertificate(keyPacket(primary), id, boundSubkey(primary, subkey))
  const certificates = [ending, mallory.certificate]
  expect(named(await sealed({ certificates }))).toHaveLength(3)
  await expect(sealed({ certificates, nowMs: NOW_MS + 60_000 })).rejects.toThrow()
})

test.each([
  ['dated an hour ahead', testPerson('late', NOW_MS + 3_600_000).certificate],
  [
    'that has expired',
    armoredCertificate(
      keyPacket(alice.primary),
      userId(alice.primary, 'alice', { hashed: [keyExpiresAfter(60)] }),
      boundSubkey(alice.primary, alice.subkey),
    ),
  ],
  [
    'that was revoked',
    armoredCertificate(
      keyPacket(alice.primary),
      keyRevocation(alice.primary, { atMs: NOW_MS - DAY_MS }),
      userId(alice.primary, 'alice'),
      boundSubkey(alice.primary, alice.subkey),
    ),
  ],
  [
    'without an encryption subkey',
    armoredCertificate(keyPacket(alice.primary), userId(alice.primary, 'alice')),
  ],
  ['that is none', 'hello'],
])(
  'a certificate %s makes the whole fail: nobody is left out in silence',
  async (_, certificate) => {
    await expect(sealed({ certificates: [mallory.certificate, certificate] })).rejects.toThrow()
  },
)

test('a secret key given as a certificate is refused', async () => {
  const { privateKey } = await generateKey({ userIDs: [{ name: 'x' }], format: 'armored' })
  await expect(sealed({ certificates: [privateKey] })).rejects.toThrow()
})

test.each([0, 1, 4096, 30_000])('a text of %i characters arrives whole', async (length) => {
  const text = '🌍'.repeat(length / 2) + 'x'.repeat(length % 2)
  const opened = await openArmored(await sealed({ text }))
  expect(opened.outcome === 'opened' && opened.text === text).toBe(true)
})
