import { generateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import type { SealRequest } from '../../../src/openpgp/engine.ts'
import type { Cipher } from '../../../src/openpgp/format/ciphers.ts'
import { framePacket } from '../../../src/openpgp/format/packet-writer.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { seal, allListAes256, recipientPackets } from '../../../src/openpgp/library/seal.ts'
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
  unseen,
  UNSEALABLE,
} from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { expiresAfter, keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { unwrap } from '../../../src/openpgp/library/open.ts'
import { seeded } from '../../support/openpgp-bytes.ts'

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

const packetsIn = (armored: string): { tag: number; body: Buffer }[] =>
  [...packetsOf(dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0))].map(({ tag, body }) => ({
    tag,
    body: Buffer.from(body),
  }))

/** Key ids that the recipient packets name, in order. */
const named = (armored: string): string[] =>
  packetsIn(armored)
    .filter(({ tag }) => tag === 1)
    .map(({ body }) => body.subarray(1, 9).toString('hex'))

const recipientSizes = (armored: string): number[] =>
  packetsIn(armored).flatMap(({ tag, body }) => (tag === 1 ? [body.length + 2] : []))

test("a repeated certificate, and the bot's own, have one PKESK packet each", async () => {
  const crlf = alice.certificate.replaceAll('\n', '\r\n')
  const certificates = [alice.certificate, alice.certificate, crlf, bot.certificate]
  expect(named(await sealed({ certificates })).toSorted()).toEqual(
    [alice.subkey.keyId, bot.subkey.keyId].toSorted(),
  )
})

test('a message opens for each recipient with a valid signature of the bot', async () => {
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

test('the digests of a `Sealed` equal those of the opened message', async () => {
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

test('the signature of a message names all recipients, and none with `isUnnamed`', async () => {
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

test('the armor of a message by openpgp.js has no headers', async () => {
  const lines = (await sealed()).split('\n')
  expect(lines.slice(0, 2)).toEqual(['-----BEGIN PGP MESSAGE-----', ''])
})

test('a message has PKESK packets of version 3 and a container of version 1, also for AEAD features', async () => {
  const { publicKey } = await generateKey({
    type: 'curve25519',
    userIDs: [{ name: 'new' }],
    date: new Date(MADE_MS),
    config: { aeadProtect: true },
    format: 'armored',
  })
  for (const certificates of [[alice.certificate], [publicKey]]) {
    const all = packetsIn(await sealed({ certificates }))
    expect(all.map(({ tag, body }) => [tag, body[0]])).toEqual([
      [1, 3],
      [1, 3],
      [18, 1],
    ])
  }
})

test.each([
  ['lists AES-256', preferring(9, 7), 96],
  ['lists AES-256 last', preferring(3, 2, 7, 8, 9), 96],
  ['lists AES-128 alone', preferring(7), 80],
  ['lists old ciphers alone', preferring(2, 3), 80],
  ['lists nothing', preferring(), 80],
])(
  'a message to a recipient who %s has PKESK packets of the expected size',
  async (_, choosy, size) => {
    const certificates = [alice.certificate, choosy.certificate]
    expect(recipientSizes(await sealed({ certificates }))).toEqual([size, size, size])
  },
)

test('a certificate that is dated 299 s ahead is sealed to', async () => {
  const fast = testPerson('fast', NOW_MS + 299_000)
  const message = await sealed({ certificates: [fast.certificate, alice.certificate] })
  expect(named(message)).toHaveLength(3)
  const opened = await openArmored(message, [fast.unlocked])
  expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
  expect(opened.outcome === 'opened' && opened.signatures[0]?.createdMs).toBe(NOW_MS)
})

test('a certificate whose self-signature ends in a minute is sealed to until then', async () => {
  const { primary, subkey } = alice
  const soonS = (NOW_MS - MADE_MS) / 1000 + 60
  const id = userId(primary, 'alice', { hashed: [expiresAfter(soonS)] })
  const ending = armoredCertificate(keyPacket(primary), id, boundSubkey(primary, subkey))
  const certificates = [ending, mallory.certificate]
  expect(named(await sealed({ certificates }))).toHaveLength(3)
  await expect(sealed({ certificates, nowMs: NOW_MS + 60_000 })).rejects.toThrow()
})

test.each([
  ...UNSEALABLE,
  ['dated an hour ahead', testPerson('late', NOW_MS + 3_600_000).certificate],
  [
    'expired',
    armoredCertificate(
      keyPacket(alice.primary),
      userId(alice.primary, 'alice', { hashed: [keyExpiresAfter(60)] }),
      boundSubkey(alice.primary, alice.subkey),
    ),
  ],
])(
  'a message fails when one certificate is %s, and leaves nobody out silently',
  async (_, certificate) => {
    await expect(sealed({ certificates: [mallory.certificate, certificate] })).rejects.toThrow()
  },
)

test('sealing to a secret key fails', async () => {
  const { privateKey } = await generateKey({ userIDs: [{ name: 'x' }], format: 'armored' })
  await expect(sealed({ certificates: [privateKey] })).rejects.toThrow()
})

applyProfile()

const data = seeded('session key', 32)
const noSubkey = armoredCertificate(keyPacket(alice.primary), userId(alice.primary, 'alice'))

test.each([
  ['all people', [alice, mallory], true],
  ['one person with it last', [preferring(7, 9)], true],
  ['all people but one', [alice, preferring(7), mallory], false],
  ['no person', [preferring(2)], false],
  ['one person beside one without a list', [alice, preferring()], false],
] as const)(
  '`allListAes256` decides for certificates where AES-256 is listed by %s',
  async (_, people, expected) => {
    expect(await allListAes256(people.map(unseen), NOW_MS)).toBe(expected)
    expect(await allListAes256([], NOW_MS)).toBe(true)
  },
)

test('`allListAes256` accepts a certificate within the clock tolerance, and rejects a later one', async () => {
  const soon = testPerson('soon', NOW_MS + 299_000)
  expect(await allListAes256([unseen(soon)], NOW_MS)).toBe(true)
  const late = testPerson('late', NOW_MS + 301_000)
  await expect(allListAes256([unseen(late)], NOW_MS)).rejects.toThrow()
})

test('`recipientPackets` wraps the session key for each recipient in order, and leaves the key unchanged', async () => {
  const given = Uint8Array.from(data)
  const key = { data: given, cipher: 9 as const }
  const people = [mallory, alice, testPerson('ahead', NOW_MS + 200_000)]
  const packets = await recipientPackets(people.map(unseen), key, NOW_MS)
  expect(Buffer.from(given)).toEqual(data)
  const all = [...packetsOf(packets)]
  expect(all.map(({ tag }) => tag)).toEqual([1, 1, 1])
  const each = all.map(({ tag, body }) => framePacket(tag, body))
  expect(all.map(({ body }) => Buffer.from(body).toString('hex', 1, 9))).toEqual(
    people.map(({ subkey }) => subkey.keyId),
  )
  for (const { unlocked, subkey } of people) {
    const found = await unwrap(each, [unlocked])
    expect(
      found.map((one) => [one.algorithm, Buffer.from(one.data)]),
      subkey.keyId,
    ).toEqual([['aes256', data]])
    expect(found[0]?.fingerprint).toBe(unlocked.fingerprint)
  }
  expect(await unwrap(each, [bot.unlocked])).toEqual([])
})

test('`recipientPackets` fails when one certificate cannot be sealed to', async () => {
  const key = { data: Uint8Array.from(data), cipher: 9 as const }
  await expect(recipientPackets([unseen(mallory), noSubkey], key, NOW_MS)).rejects.toThrow(
    'a certificate cannot be sealed to',
  )
  await expect(recipientPackets([unseen(mallory), 'hello'], key, NOW_MS)).rejects.toThrow()
  expect(Buffer.from(key.data)).toEqual(data)
})
