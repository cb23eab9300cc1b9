import { afterAll, expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { Cipher } from '../../../src/openpgp/format/ciphers.ts'
import type { SealRequest } from '../../../src/openpgp/engine.ts'
import { readRecipient } from '../../../src/openpgp/crypto/recipient.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { Sealed } from '../../../src/openpgp/format/armor-writer.ts'
import { AS_MADE, fit } from '../../../src/openpgp/size.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { openArmored } from '../../support/openpgp-engine.ts'
import { generated } from '../../support/openpgp-generated.ts'
import { identify } from '../../support/openpgp-key.ts'
import {
  MADE_MS,
  alice,
  bot,
  mallory,
  personOf,
  preferring,
  rsaKey,
  testPerson,
  UNSEALABLE,
  type TestPerson,
} from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'

const prepared: string[] = []
const engine = createEngine({ threads: 1, onPrepared: (place) => prepared.push(place) })
afterAll(() => engine[Symbol.asyncDispose]())

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))
const crowd = Array.from({ length: 40 }, (_, index) => testPerson(`person ${index}`))

const request = (
  people: { certificate: string }[],
  more: Partial<SealRequest> = {},
): SealRequest => ({
  text: 'hello',
  certificates: people.map(({ certificate }) => certificate),
  signer: bot.unlocked,
  cipher: 'aes256',
  ...more,
})

/** Key ids that the recipient packets name, and the sender's points in them. */
function recipientsOf(sealed: Sealed): { keyIds: string[]; points: string[]; sizes: number[] } {
  const packets = [...packetsOf(dearmor(sealed.armored, 'MESSAGE') ?? Buffer.alloc(0))]
  const bodies = packets.filter(({ tag }) => tag === 1).map(({ body }) => Buffer.from(body))
  return {
    keyIds: bodies.map((body) => body.toString('hex', 1, 9)),
    points: bodies.map((body) => readRecipient(body)?.ephemeral.toString('hex') ?? ''),
    sizes: bodies.map((body) => body.length + 2),
  }
}

/** Expects that the library opens a message for each of these people, and for nobody else. */
async function opensFor(sealed: Sealed, people: TestPerson[], text = 'hello'): Promise<void> {
  for (const person of [...people, bot]) {
    const opened = await openArmored(sealed.armored, [person.unlocked])
    expect(opened, person.name).toMatchObject({
      outcome: 'opened',
      text,
      dataDigest: sealed.dataDigest,
      signatures: [{ issuerKeyId: bot.primary.keyId, digest: sealed.statementDigest }],
    })
    if (opened.outcome !== 'opened') continue
    expect(await verify(opened.signed, bot.certificate, Date.now())).toEqual(['valid'])
  }
  const stranger = people.includes(mallory) ? testPerson('stranger') : mallory
  expect(await openArmored(sealed.armored, [stranger.unlocked])).toEqual({
    outcome: 'not-recipient',
  })
}

const expectOnce = (sealed: Sealed, people: { subkey: { keyId: string } }[]): void => {
  const expected = [...people, bot].map(({ subkey }) => subkey.keyId)
  expect(recipientsOf(sealed).keyIds.toSorted()).toEqual(expected.toSorted())
}

/** Seals at a place, and once more when the next message is prepared. */
async function aheadOf(place: string, make: () => Promise<Sealed>): Promise<Sealed> {
  prepared.length = 0
  await make()
  await expect.poll(() => prepared, { interval: 5 }).toContain(place)
  return await make()
}

test.each([
  ['to the bot alone', []],
  ['to one person', [alice]],
  ['to one person with X25519', [modern]],
  ['to 42 people', [alice, modern, ...crowd]],
])(
  'a message %s has one PKESK packet each and opens for all recipients alone',
  async (_, people) => {
    const sealed = await engine.sealKnown(request(people))
    expectOnce(sealed, people)
    await opensFor(sealed, people)
  },
)

test('a prepared message has one PKESK packet each and opens for all recipients alone', async () => {
  const people = [alice, modern, ...crowd]
  const one = request(people, { place: 'ahead' })
  const sealed = await aheadOf('ahead', () => engine.sealKnown(one))
  expectOnce(sealed, people)
  await opensFor(sealed, people)
})

test('no two messages share an ephemeral point, a data digest or a statement digest', async () => {
  const points = new Set<string>()
  const digests = new Set<string>()
  let expected = 0
  for (let count = 0; count < 6; count++) {
    const place = `place ${count % 3}`
    const sealed = await aheadOf(place, () =>
      engine.sealKnown(request([alice, mallory], { place })),
    )
    for (const point of recipientsOf(sealed).points) points.add(point)
    digests.add(sealed.dataDigest).add(sealed.statementDigest)
    expected += 3
  }
  expect(points.size).toBe(expected)
  expect(digests.size).toBe(12)
})

test('a message to another list at the same place excludes the former recipients', async () => {
  const place = 'changing'
  const lists = [[alice], [alice, mallory], [mallory], [mallory, alice], [alice]]
  for (const people of lists) {
    const sealed = await aheadOf(place, () => engine.sealKnown(request(people, { place })))
    expectOnce(sealed, people)
  }
  for (const people of lists) {
    const sealed = await engine.sealKnown(request(people, { place }))
    expectOnce(sealed, people)
    await opensFor(sealed, people)
  }
})

test('a message after a change of the own key is signed and read by the new key alone', async () => {
  const place = 'rotating'
  const list = [alice.certificate]
  await aheadOf(place, () => engine.sealKnown(request([], { place, certificates: list })))
  const other = testPerson('bot, later')
  const sealed = await engine.sealKnown(
    request([], { place, certificates: list, signer: other.unlocked }),
  )
  expect(recipientsOf(sealed).keyIds.toSorted()).toEqual(
    [alice.subkey.keyId, other.subkey.keyId].toSorted(),
  )
  const opened = await openArmored(sealed.armored, [alice.unlocked])
  expect(opened).toMatchObject({ signatures: [{ issuerKeyId: other.primary.keyId }] })
})

test('a message uses the requested cipher although one with another cipher is prepared', async () => {
  const place = 'ciphers'
  const ask = (cipher: Cipher): Promise<Sealed> =>
    engine.sealKnown(request([alice, modern], { place, cipher }))
  expect(recipientsOf(await aheadOf(place, () => ask('aes256'))).sizes).toEqual([96, 86, 96])
  expect(recipientsOf(await ask('aes128')).sizes).toEqual([80, 70, 80])
  expect(recipientsOf(await aheadOf(place, () => ask('aes128'))).sizes).toEqual([80, 70, 80])
})

test.each([
  ['AES-256 alone', [9], 96],
  ['AES-256 last', [7, 8, 9], 96],
  ['AES-128 alone', [7], 80],
  ['AES-192 and AES-128', [8, 7], 80],
  ['nothing', [], 80],
])(
  'a message beside a recipient who lists %s uses one common cipher for all, also when prepared',
  async (_, ciphers, bytes) => {
    const choosy = preferring(...ciphers)
    const place = `listing ${ciphers.join(' ')}`
    const ask = (): Promise<Sealed> => engine.sealKnown(request([alice, choosy], { place }))
    for (const sealed of [await ask(), await aheadOf(place, ask)]) {
      expect(recipientsOf(sealed).sizes).toEqual([bytes, bytes, bytes])
      await opensFor(sealed, [alice, choosy])
    }
  },
)

test.each([
  [[9, 7], 96],
  [[7], 80],
])('a message with an RSA recipient who lists %j has that cipher', async (ciphers, bytes) => {
  const rsa = rsaKey(2048)
  const certificate = armoredCertificate(
    keyPacket(rsa),
    userId(rsa, 'rsa', { ciphers }),
    boundSubkey(rsa, identify(rsa.body, MADE_MS)),
  )
  const certificates = [alice.certificate, certificate]
  const { sizes } = recipientsOf(await engine.sealKnown(request([], { certificates })))
  expect(sizes.filter((size) => size < 200)).toEqual([bytes, bytes])
})

test.each([
  [[9, 7], 96],
  [[7], 80],
])(
  'a message to a recipient with two user ids who lists %j has that cipher',
  async (ciphers, bytes) => {
    const { primary, subkey } = testPerson('two user ids')
    const ids = ['one', 'two'].map((name) => userId(primary, name, { ciphers }))
    const certificate = armoredCertificate(keyPacket(primary), ...ids, boundSubkey(primary, subkey))
    const sealed = await engine.sealKnown(request([], { certificates: [certificate] }))
    expect(recipientsOf(sealed).sizes).toEqual([bytes, bytes])
  },
)

test('a message to RSA, NIST P-256 and Curve25519 recipients opens for each', async () => {
  const nist = await generated({ curve: 'nistP256' })
  const rsa = rsaKey(2048)
  const withRsa = armoredCertificate(
    keyPacket(rsa),
    userId(rsa, 'rsa'),
    boundSubkey(rsa, identify(rsa.body, MADE_MS)),
  )
  const certificates = [nist.certificate, alice.certificate, withRsa]
  const sealed = await engine.sealKnown(request([], { certificates, place: 'mixed' }))
  const { keyIds } = recipientsOf(sealed)
  expect(keyIds).toHaveLength(4)
  expect(new Set(keyIds).size).toBe(4)
  await opensFor(sealed, [alice])
  expect(await openArmored(sealed.armored, [nist.unlocked])).toMatchObject({ text: 'hello' })
})

/** Fingerprints that the one signature names as recipients, in order. */
async function namedIn(sealed: Sealed, keys = [bot.unlocked]): Promise<string[]> {
  const opened = await openArmored(sealed.armored, keys)
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  expect(await verify(opened.signed, bot.certificate, Date.now())).toEqual(['valid'])
  return opened.signatures.flatMap(({ intended }) => intended)
}

test('the signature of a message names every recipient and the bot once, or none with `isUnnamed`', async () => {
  const nist = await generated({ curve: 'nistP256' })
  const people = [alice, alice, bot, nist, modern]
  const named = [alice, nist, modern].map(({ certificate }) => certificate)
  const all = await Promise.all(
    [...named, bot.certificate].map(async (one) => (await engine.judge(one)).fingerprint),
  )
  for (const place of ['names', 'names', undefined]) {
    const more = place === undefined ? {} : { place }
    expect(await namedIn(await engine.sealKnown(request(people, more)))).toEqual(all)
    const unnamed = await engine.sealKnown(request(people, { ...more, isUnnamed: true }))
    expect(await namedIn(unnamed)).toEqual([])
  }
})

test('`fit` never approves AES-256 for less than the length of the sealed message', async () => {
  for (const count of [0, 1, 2, 7, 40]) {
    const people = crowd.slice(0, count)
    for (const length of [0, 1, 57, 200, 4096]) {
      const text = 'x'.repeat(length)
      const sealed = await engine.sealKnown(request(people, { text }))
      const bytes = { aes256: 96 * count, aes128: 80 * count }
      const forecast = fit(bytes, {
        textBytes: length,
        maxChars: sealed.chars - 1,
        own: AS_MADE,
        named: 0,
      })
      expect(forecast).not.toEqual({ fits: true, cipher: 'aes256' })
    }
  }
})

test.each(UNSEALABLE)(
  'a message with a recipient whose certificate is %s fails, although one for other recipients is prepared',
  async (_, bad) => {
    const place = 'failing'
    await aheadOf(place, () => engine.sealKnown(request([mallory], { place })))
    const certificates = [mallory.certificate, bad]
    await expect(engine.sealKnown(request([], { certificates, place }))).rejects.toThrow()
  },
)
