/** The parts of natively sealed messages that the library makes. */
import { expect, test } from 'vitest'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { allListAes256, recipientPackets } from '../../../src/openpgp/library/seal.ts'
import { unwrap } from '../../../src/openpgp/library/open.ts'
import { armoredCertificate, keyPacket, userId } from '../../support/openpgp-certificate.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import {
  NOW_MS,
  alice,
  bot,
  mallory,
  preferring,
  testPerson,
  unseen,
} from '../../support/openpgp-people.ts'

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
  expect(all.map(({ body }) => Buffer.from(body).toString('hex', 1, 9))).toEqual(
    people.map(({ subkey }) => subkey.keyId),
  )
  for (const { unlocked, subkey } of people) {
    const found = await unwrap([packets], [unlocked])
    expect(
      found.map((one) => [one.algorithm, Buffer.from(one.data)]),
      subkey.keyId,
    ).toEqual([['aes256', data]])
    expect(found[0]?.fingerprint).toBe(unlocked.fingerprint)
  }
  expect(await unwrap([packets], [bot.unlocked])).toEqual([])
})

test('`recipientPackets` fails when one certificate cannot be sealed to', async () => {
  const key = { data: Uint8Array.from(data), cipher: 9 as const }
  await expect(recipientPackets([unseen(mallory), noSubkey], key, NOW_MS)).rejects.toThrow(
    'a certificate cannot be sealed to',
  )
  await expect(recipientPackets([unseen(mallory), 'hello'], key, NOW_MS)).rejects.toThrow()
  expect(Buffer.from(key.data)).toEqual(data)
})
