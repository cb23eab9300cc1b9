/** Which of our keys opens a message by the library, and what is said where none does. */
import { expect, test } from 'vitest'
import { open, openWhole, unpackWhole, unwrap } from '../../../src/openpgp/library/open.ts'
import { packetAt } from '../../../src/openpgp/format/packets.ts'
import { parseMessageBytes } from '../../../src/openpgp/format/encrypted-message.ts'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import { BZIP2_HELLO } from '../../support/openpgp-bzip2.ts'
import { KEY, idsOf } from '../../support/openpgp-engine.ts'
import { compressedOf, literal } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { alice, bot, mallory } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  seipd,
  seipd2,
  seipdBody,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'

const box = seipd(literal('hello'), KEY)
const broken = Buffer.from(box)
broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1
const wrong = sessionKey('wrong')
const old = sessionKey('old cipher', 2)
const [BOT, MALLORY] = [bot.unlocked, mallory.unlocked]

/** Whom it opened for, or why it did not. */
async function outcomeOf(packets: Buffer[], keys: UnlockedKey[] = [BOT]): Promise<string> {
  const parsed = parseMessageBytes(concat(...packets), idsOf(keys))
  if (parsed.outcome !== 'encrypted') throw new Error(parsed.outcome)
  const opened = await open(parsed, keys)
  if (opened.outcome !== 'opened') {
    return 'reason' in opened ? `${opened.outcome}: ${opened.reason}` : opened.outcome
  }
  expect(opened.text).toBe('hello')
  expect(opened.dataDigest).toBe(parsed.dataDigest)
  expect(opened.recipients).toBe(parsed.recipients)
  return keys.find(({ fingerprint }) => fingerprint === opened.openedWith) === BOT
    ? 'bot'
    : 'mallory'
}

test.each<[string, Buffer[], string]>([
  ['for us', [pkesk(bot.subkey, KEY), box], 'bot'],
  ['for us, without our name', [anonymousPkesk(bot.subkey, KEY), box], 'bot'],
  ['of an old cipher', [pkesk(bot.subkey, old), seipd(literal('hello'), old)], 'bot'],
  ['of version 2', [pkesk6(bot.subkey, KEY), seipd2(literal('hello'), KEY)], 'bot'],
  [
    'for us after a packet of another key',
    [pkesk(bot.subkey, wrong, 'w'), pkesk(bot.subkey, KEY), box],
    'bot',
  ],
  [
    'for us after a packet that is broken',
    [strangerPkesk('a', bot.subkey.keyId), pkesk(bot.subkey, KEY), box],
    'bot',
  ],
])('a message %s opens', async (_, packets, who) => {
  expect(await outcomeOf(packets)).toBe(who)
})

test.each<[string, Buffer[], string]>([
  ['for nobody who is named', [anonymousPkesk(alice.subkey, KEY), box], 'not-recipient'],
  [
    'that names us, and is for another',
    [strangerPkesk('a', bot.subkey.keyId), box],
    'damaged: decryption',
  ],
  ['of another session key', [pkesk(bot.subkey, wrong), box], 'damaged: decryption'],
  [
    'of another session key, without our name',
    [anonymousPkesk(bot.subkey, wrong), box],
    'damaged: decryption',
  ],
  ['that was changed', [pkesk(bot.subkey, KEY), broken], 'damaged: decryption'],
  ['of version 1 with a key that does not', [pkesk6(bot.subkey, KEY), box], 'damaged: decryption'],
])('a message %s does not open', async (_, packets, said) => {
  expect(await outcomeOf(packets)).toBe(said)
})

test('of several keys of ours each is tried, and the one that opens is named', async () => {
  const forMallory = [pkesk(mallory.subkey, KEY), box]
  expect(await outcomeOf(forMallory, [BOT, MALLORY])).toBe('mallory')
  expect(await outcomeOf(forMallory, [MALLORY, BOT])).toBe('mallory')
  const both = [pkesk(bot.subkey, wrong), pkesk(mallory.subkey, KEY), box]
  expect(await outcomeOf(both, [BOT, MALLORY])).toBe('mallory')
  expect(await outcomeOf([anonymousPkesk(alice.subkey, KEY), box], [BOT, MALLORY])).toBe(
    'not-recipient',
  )
})

test('each session key of a file is found, with the key that it was for', async () => {
  const packets = [strangerPkesk('a'), pkesk(bot.subkey, KEY), pkesk(mallory.subkey, wrong)]
  const found = await unwrap(packets, [MALLORY, BOT])
  expect(found.map(({ algorithm, fingerprint }) => [algorithm, fingerprint])).toEqual([
    ['aes256', MALLORY.fingerprint],
    ['aes256', BOT.fingerprint],
  ])
  expect(found.map(({ data }) => Buffer.from(data))).toEqual([wrong.data, KEY.data])
  expect(await unwrap(packets, [alice.unlocked])).toEqual([])
  expect(
    (await unwrap([pkesk6(bot.subkey, KEY)], [BOT])).map(({ algorithm }) => algorithm),
  ).toEqual([null])
})

test('a file’s container is opened with the key that fits', async () => {
  const body = seipdBody(literal('hello'), KEY)
  const whole = await openWhole([pkesk(bot.subkey, KEY)], body, [MALLORY, BOT])
  expect(whole?.fingerprint).toBe(BOT.fingerprint)
  expect(Buffer.from(whole?.packets ?? '')).toEqual(literal('hello'))
  const version2 = packetAt(seipd2(literal('hello'), KEY), 0).body
  expect(await openWhole([pkesk6(bot.subkey, KEY)], version2, [BOT])).toMatchObject({
    fingerprint: BOT.fingerprint,
  })
  expect(await openWhole([pkesk(bot.subkey, KEY)], body, [MALLORY])).toBeNull()
  expect(await openWhole([pkesk(bot.subkey, KEY)], broken.subarray(2), [BOT])).toBeNull()
})

test('a compressed packet is unpacked, and what is broken is nothing', async () => {
  const packet = compressedOf(3, BZIP2_HELLO)
  expect(Buffer.from((await unpackWhole(packet)) ?? '').includes('hello')).toBe(true)
  expect(await unpackWhole(compressedOf(3, Buffer.from('hello')))).toBeNull()
  expect(await unpackWhole(Buffer.from('hello'))).toBeNull()
})
