/** What the library does for messages that are otherwise sealed natively. */
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
  ['everybody', [alice, mallory], true],
  ['one of them last', [preferring(7, 9)], true],
  ['all but one', [alice, preferring(7), mallory], false],
  ['nobody', [preferring(2)], false],
  ['somebody, and another lists nothing', [alice, preferring()], false],
] as const)('whether %s lists AES-256 is found', async (_, people, expected) => {
  expect(await allListAes256(people.map(unseen), NOW_MS)).toBe(expected)
  expect(await allListAes256([], NOW_MS)).toBe(true)
})

test('of one who is dated some minutes ahead of our clock, it is found too', async () => {
  const soon = testPerson('soon', NOW_MS + 299_000)
  expect(await allListAes256([unseen(soon)], NOW_MS)).toBe(true)
  const late = testPerson('late', NOW_MS + 301_000)
  await expect(allListAes256([unseen(late)], NOW_MS)).rejects.toThrow()
})

test('each recipient is given the session key, in order, and it stays as it was', async () => {
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

test('one who cannot be sealed to fails all of it', async () => {
  const key = { data: Uint8Array.from(data), cipher: 9 as const }
  await expect(recipientPackets([unseen(mallory), noSubkey], key, NOW_MS)).rejects.toThrow(
    'a certificate cannot be sealed to',
  )
  await expect(recipientPackets([unseen(mallory), 'hello'], key, NOW_MS)).rejects.toThrow()
  expect(Buffer.from(key.data)).toEqual(data)
})

test('without recipients there are no packets', async () => {
  const key = { data: Uint8Array.from(data), cipher: 9 as const }
  await expect(recipientPackets([], key, NOW_MS)).resolves.toHaveLength(0)
})
