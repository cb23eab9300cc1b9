import { beforeAll, expect, test } from 'vitest'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import type { EncryptedMessage } from '../../../src/openpgp/format/encrypted-message.ts'
import { KEY, openPackets, outcomeOf, parsePackets } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { bot, testPerson } from '../../support/openpgp-people.ts'
import { anonymousPkesk, pkesk, seipd, strangerPkesk } from '../../support/openpgp-sealed.ts'

const ANONYMOUS = '0000000000000000'
const box = seipd(literal('hello'), KEY)
const ours = pkesk(bot.subkey, KEY)
const opens = { outcome: 'opened', text: 'hello' }
/** As many as one message can hold. */
const MANY = 950

const strangers = (count: number, keyId?: string): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => strangerPkesk(`flood ${index}`, keyId)))

/** Five retained keys, of which the last opens. */
const keys: UnlockedKey[] = []
beforeAll(() => {
  keys.push(...['old 1', 'old 2', 'old 3', 'old 4'].map((name) => testPerson(name).unlocked))
  keys.push(bot.unlocked)
})

test('P9 a thousand recipients before us cost a loop: ours alone is left', async () => {
  const packets = concat(strangers(MANY), ours, box)
  expect(armor(packets).length).toBeLessThanOrEqual(BOUNDS.messageChars)
  expect((parsePackets(packets, keys) as EncryptedMessage).recipientPackets).toEqual([ours])
  expect(await openPackets(packets, keys)).toMatchObject(opens)
})

test('P10 a thousand anonymous recipients beside ours are not tried', async () => {
  const packets = concat(strangers(MANY, ANONYMOUS), ours, box)
  expect((parsePackets(packets, keys) as EncryptedMessage).recipientPackets).toEqual([ours])
  expect(await openPackets(packets, keys)).toMatchObject(opens)
})

test('P10 a thousand anonymous recipients alone are refused', async () => {
  const packets = concat(anonymousPkesk(bot.subkey, KEY), strangers(MANY, ANONYMOUS), box)
  expect(outcomeOf(await openPackets(packets, keys))).toBe('not-recipient: too-many-anonymous')
})

test('four anonymous recipients are tried with five keys, and ours may be the last', async () => {
  const packets = concat(strangers(3, ANONYMOUS), anonymousPkesk(bot.subkey, KEY), box)
  expect((parsePackets(packets, keys) as EncryptedMessage).recipientPackets).toHaveLength(4)
  expect(await openPackets(packets, keys)).toMatchObject(opens)
})

test('five anonymous recipients are too many', async () => {
  const packets = concat(anonymousPkesk(bot.subkey, KEY), strangers(4, ANONYMOUS), box)
  expect(outcomeOf(await openPackets(packets, keys))).toBe('not-recipient: too-many-anonymous')
})

test('anonymous packets times keys stay within the bound on attempts', () => {
  const packets = concat(strangers(4, ANONYMOUS), box)
  for (const keyCount of [1, 5, 8, 9, 16, 17, 32]) {
    const retained = Array.from({ length: keyCount }, () => bot.unlocked)
    const { recipientPackets } = parsePackets(packets, retained) as EncryptedMessage
    expect(recipientPackets.length).toBeGreaterThan(0)
    expect(recipientPackets.length * keyCount).toBeLessThanOrEqual(BOUNDS.anonymousAttempts)
  }
})

test('a thousand packets that name us falsely are tried up to the bound', async () => {
  const packets = concat(strangers(MANY, bot.subkey.keyId), box)
  expect((parsePackets(packets, keys) as EncryptedMessage).recipientPackets).toHaveLength(
    BOUNDS.namedAttempts,
  )
  expect(outcomeOf(await openPackets(packets, keys))).toBe('damaged: decryption')
})

test('a few packets that name us falsely do not keep the true one from opening', async () => {
  const packets = concat(strangers(BOUNDS.namedAttempts - 1, bot.subkey.keyId), ours, box)
  expect(await openPackets(packets, keys)).toMatchObject(opens)
})

test('an anonymous packet for a retained key opens with it', async () => {
  const old = testPerson('old 2')
  const packets = concat(anonymousPkesk(old.subkey, KEY), box)
  expect(await openPackets(packets, keys)).toMatchObject({
    ...opens,
    openedWith: old.primary.fingerprint,
  })
})

test('an anonymous packet for somebody else is not for us', async () => {
  const packets = concat(anonymousPkesk(testPerson('somebody').subkey, KEY), box)
  expect(outcomeOf(await openPackets(packets, keys))).toBe('not-recipient')
})

test('more recipient packets than the bound are too large, as many are read', () => {
  const small = packet(1, concat(3))
  const flood = (count: number): Buffer => Buffer.alloc(small.length * count, small)
  const within = concat(flood(BOUNDS.recipientPackets - 1), ours, box)
  expect(parsePackets(within)).toMatchObject({ outcome: 'encrypted' })
  const beyond = concat(flood(BOUNDS.recipientPackets), ours, box)
  expect(parsePackets(beyond)).toEqual({ outcome: 'too-large', reason: 'recipients' })
})

test('password packets count as recipient packets', () => {
  const small = packet(3, concat(4))
  const flood = Buffer.alloc(small.length * (BOUNDS.recipientPackets + 1), small)
  expect(parsePackets(concat(flood, box))).toEqual({ outcome: 'too-large', reason: 'recipients' })
})

test('fifty thousand empty packets that may be passed over are passed over', async () => {
  const packets = concat(Buffer.alloc(90_000, packet(10, Buffer.alloc(0))), ours, box)
  expect(await openPackets(packets)).toMatchObject(opens)
})
