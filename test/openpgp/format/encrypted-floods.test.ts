import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { KEY, openPackets, outcomeOf, parsePackets } from '../../support/openpgp-engine.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { bot, testPerson } from '../../support/openpgp-people.ts'
import { anonymousPkesk, pkesk, seipd, strangerPkesk } from '../../support/openpgp-sealed.ts'

const box = seipd(literal('hello'), KEY)
const ours = pkesk(bot.subkey, KEY)
const opens = { outcome: 'opened', text: 'hello' }
const strangers = (count: number, keyId?: string): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => strangerPkesk(`flood ${index}`, keyId)))

test('a message opens although `BOUNDS.namedAttempts - 1` PKESK packets name the own key falsely', async () => {
  const packets = concat(strangers(BOUNDS.namedAttempts - 1, bot.subkey.keyId), ours, box)
  expect(await openPackets(packets)).toMatchObject(opens)
})

test('a message with an anonymous PKESK packet of another key is `not-recipient`', async () => {
  const packets = concat(anonymousPkesk(testPerson('somebody').subkey, KEY), box)
  expect(outcomeOf(await openPackets(packets))).toBe('not-recipient')
})

test('a message with more PKESK packets than `BOUNDS.recipientPackets` is too large', () => {
  const small = packet(1, concat(3))
  const flood = (count: number): Buffer => Buffer.alloc(small.length * count, small)
  const within = concat(flood(BOUNDS.recipientPackets - 1), ours, box)
  expect(parsePackets(within)).toMatchObject({ outcome: 'encrypted' })
  const beyond = concat(flood(BOUNDS.recipientPackets), ours, box)
  expect(parsePackets(beyond)).toEqual({ outcome: 'too-large', reason: 'recipients' })
})

test('SKESK packets count towards `BOUNDS.recipientPackets`', () => {
  const small = packet(3, concat(4))
  const flood = Buffer.alloc(small.length * (BOUNDS.recipientPackets + 1), small)
  expect(parsePackets(concat(flood, box))).toEqual({ outcome: 'too-large', reason: 'recipients' })
})

test('a message opens behind 45,000 empty marker packets', async () => {
  const packets = concat(Buffer.alloc(90_000, packet(10, Buffer.alloc(0))), ours, box)
  expect(await openPackets(packets)).toMatchObject(opens)
})
