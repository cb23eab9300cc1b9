import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  looksEncrypted,
  parseMessage,
  parseMessageBytes,
  type EncryptedMessage,
} from '../../../src/openpgp/format/encrypted-message.ts'
import {
  KEY,
  hello,
  idsOf,
  openPackets,
  outcomeOf,
  parsePackets,
} from '../../support/openpgp-engine.ts'
import {
  armor,
  longPacket,
  oldPacket,
  packet,
  partialPacket,
} from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  pkeskBody,
  sed,
  seipd,
  seipd2,
  seipdBody,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'

const ours = pkesk(bot.subkey, KEY)
const box = seipd(literal('hello'), KEY)
const opens = { outcome: 'opened', text: 'hello' }
const marker = packet(10, Buffer.from('PGP'))
const skesk = packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 255))
/** Asks for 2^30 KiB of memory and 255 passes (RFC 9580, 3.7.1.4). */
const argon2 = packet(3, concat(6, 0, 9, 2, 4, 20, seeded('salt', 16), 255, 4, 30, seeded('x', 40)))
const unknown = (tag: number): Buffer => packet(tag, seeded('unknown', 20))

test.each([
  ['P6 a marker first', [marker, ours, box]],
  ['P6 a marker between', [ours, marker, box]],
  ['P6 padding first', [packet(21, seeded('padding', 300)), ours, box]],
  ['P6 unknown tags that may be passed over', [unknown(60), ours, unknown(40), box]],
  [
    'P8 a recipient packet of version 23 beside ours',
    [packet(1, concat(23, seeded('v', 60))), ours, box],
  ],
  [
    'P8 a recipient packet of version 2 beside ours',
    [packet(1, concat(2, seeded('v', 60))), ours, box],
  ],
  ['P8 a recipient packet of version 6 for somebody', [pkesk6(mallory.subkey, KEY), ours, box]],
  ['an empty recipient packet beside ours', [packet(1, Buffer.alloc(0)), ours, box]],
  ['P11 an anonymous recipient packet alone', [anonymousPkesk(bot.subkey, KEY), box]],
  ['P12 a password packet beside ours', [skesk, ours, box]],
  ['P12 a password packet that would take a terabyte', [argon2, ours, box]],
  ['P16 a version 2 container', [pkesk6(bot.subkey, KEY), seipd2(literal('hello'), KEY)]],
  ['others before and after ours', [strangerPkesk('a'), ours, strangerPkesk('b'), box]],
  ['old headers', [oldPacket(1, pkeskBody(bot.subkey, KEY, 'pkesk'), 1), box]],
  ['five-byte lengths', [longPacket(1, pkeskBody(bot.subkey, KEY, 'pkesk')), box]],
  [
    'a container in chunks',
    [ours, partialPacket(18, seipdBody(literal('x'.repeat(900)), KEY), [9])],
  ],
])('%s: opens', async (_, packets) => {
  const opened = await openPackets(concat(...packets))
  expect(outcomeOf(opened)).toBe('opened')
})

test('P16 a signed version 2 container gives its signature', async () => {
  const inner = signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })
  const opened = await openPackets(concat(pkesk6(bot.subkey, KEY), seipd2(inner, KEY)))
  expect(opened).toMatchObject({ ...opens, signatures: [{ issuerKeyId: alice.primary.keyId }] })
})

test.each([
  ['P7 a critical unknown tag', [unknown(39), ours, box], 'not-encrypted: structure'],
  ['P7 a critical unknown tag after ours', [ours, unknown(22), box], 'damaged: structure'],
  ['tag 0', [ours, packet(0, seeded('x', 3)), box], 'damaged: structure'],
  ['P12 only a password packet', [skesk, box], 'not-recipient'],
  ['P13 unprotected data', [ours, sed(literal('hello'), KEY)], 'damaged: structure'],
  ['P13 unprotected data alone', [sed(literal('hello'), KEY)], 'not-encrypted: structure'],
  [
    'P13 our container as unprotected data',
    [ours, packet(9, seipdBody(literal('hello'), KEY).subarray(1))],
    'damaged: structure',
  ],
  [
    'P15 a container of version 7',
    [ours, packet(18, concat(7, seeded('x', 80)))],
    'damaged: container-version',
  ],
  [
    'P15 a container of version 0',
    [ours, packet(18, concat(0, seeded('x', 80)))],
    'damaged: container-version',
  ],
  ['P15 an empty container', [ours, packet(18, Buffer.alloc(0))], 'damaged: container-version'],
  [
    'P15 the AEAD packet of another draft',
    [ours, packet(20, concat(1, 9, 2, 16, seeded('x', 80)))],
    'damaged: structure',
  ],
  ['P18 two containers', [ours, box, box], 'damaged: trailing-data'],
  ['P18 a recipient packet after the container', [ours, box, ours], 'damaged: trailing-data'],
  [
    'P18 another’s recipient packet after the container',
    [ours, box, strangerPkesk('a')],
    'damaged: trailing-data',
  ],
  ['P18 two messages', [ours, box, ours, box], 'damaged: trailing-data'],
  [
    'P18 padding after the container',
    [ours, box, packet(21, seeded('x', 5))],
    'damaged: trailing-data',
  ],
  ['P18 a zero byte after the container', [ours, box, Buffer.alloc(1)], 'damaged: header'],
  ['P18 a literal before ours', [literal('hello'), ours, box], 'not-encrypted: structure'],
  ['P18 a literal after ours', [ours, literal('hello'), box], 'damaged: structure'],
  ['recipients and no data', [ours, strangerPkesk('a')], 'damaged: no-data'],
  ['only markers', [marker, marker], 'not-encrypted'],
  [
    'P19 signed only',
    [signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })],
    'not-encrypted: structure',
  ],
  ['P19 literal only', [literal('hello')], 'not-encrypted: structure'],
  ['P20 compressed only', [compressed(literal('hello'), 2)], 'not-encrypted: structure'],
  ['others only', [strangerPkesk('a'), strangerPkesk('b'), box], 'not-recipient'],
  ['nobody at all', [box], 'not-recipient'],
  ['a container cut short', [ours, box.subarray(0, -1)], 'damaged: length'],
])('%s: does not open', async (_, packets, expected) => {
  expect(outcomeOf(await openPackets(concat(...packets)))).toBe(expected)
})

test('what is not for us is dropped before anything is parsed', () => {
  const strangers = Array.from({ length: 50 }, (_, index) => strangerPkesk(String(index)))
  const encrypted = parsePackets(concat(...strangers, argon2, ours, box)) as EncryptedMessage
  expect(encrypted.outcome).toBe('encrypted')
  expect(encrypted.named).toBe(true)
  expect(encrypted.recipientPackets).toEqual([ours])
  expect(Buffer.from(encrypted.container)).toEqual(seipdBody(literal('hello'), KEY))
})

test('a message as long as the service takes is read, and not one character more', () => {
  const own = idsOf([bot.unlocked])
  const text = armor(concat(ours, box))
  expect(parseMessage(text.padEnd(131_072, '\n'), own).outcome).toBe('encrypted')
  expect(parseMessage(text.padEnd(131_073, '\n'), own)).toEqual({
    outcome: 'too-large',
    reason: 'armor',
  })
  expect(parseMessage('hello', own)).toEqual({ outcome: 'damaged', reason: 'armor' })
})

test('what is left of a message stays as it was while others are read', () => {
  const others = anonymousPkesk(bot.subkey, KEY)
  const own = idsOf([bot.unlocked])
  const first = parseMessage(armor(concat(ours, others, box)), own) as EncryptedMessage
  const copy = structuredClone(first)
  const longer = seipd(literal('x'.repeat(5000)), KEY)
  const second = parseMessage(
    armor(concat(strangerPkesk('a'), others, longer)),
    own,
  ) as EncryptedMessage
  expect(second.outcome).toBe('encrypted')
  expect(structuredClone(first)).toEqual(copy)
  expect(Buffer.from(first.container)).toEqual(seipdBody(literal('hello'), KEY))
})

test('the digest is that of the data, whatever frames it and whoever it is for', () => {
  const body = seipdBody(literal('x'.repeat(900)), KEY)
  const digest = createHash('sha256').update(body).digest('hex')
  const framings = [packet(18, body), longPacket(18, body), partialPacket(18, body, [9])]
  for (const framing of framings) {
    for (const recipient of [
      ours,
      anonymousPkesk(bot.subkey, KEY),
      concat(strangerPkesk('a'), ours),
    ]) {
      expect(parsePackets(concat(recipient, framing))).toMatchObject({ dataDigest: digest })
    }
  }
})

test('a recipient packet may name our primary key or one of our fingerprints', () => {
  const named = strangerPkesk('a', bot.primary.keyId)
  expect(parsePackets(concat(named, box))).toMatchObject({ outcome: 'encrypted', named: true })
  const v6 = pkesk6(bot.subkey, KEY)
  expect(parsePackets(concat(v6, seipd2(literal('x'), KEY)))).toMatchObject({ named: true })
})

test('a version 6 packet whose fingerprint is cut short, or of length zero, is not ours by name', () => {
  const short = packet(1, concat(6, 21, 4, bot.subkey.fingerprint.slice(0, 20)))
  expect(parsePackets(concat(short, box))).toEqual({ outcome: 'not-recipient' })
  const nobody = packet(1, concat(6, 0, 18, seeded('x', 60)))
  expect(parsePackets(concat(nobody, box))).toMatchObject({ outcome: 'encrypted', named: false })
})

test('without a key of ours nothing is for us', () => {
  expect(parseMessageBytes(concat(ours, box), idsOf([]))).toEqual({ outcome: 'not-recipient' })
  expect(parseMessageBytes(concat(anonymousPkesk(bot.subkey, KEY), box), idsOf([]))).toEqual({
    outcome: 'not-recipient',
  })
})

test('what looks encrypted is any whole encrypted message, for whomever', () => {
  expect(looksEncrypted(armor(hello()))).toBe(true)
  expect(looksEncrypted(armor(concat(strangerPkesk('a'), box)))).toBe(true)
  expect(looksEncrypted(armor(concat(box)))).toBe(true)
  expect(looksEncrypted(armor(literal('hello')))).toBe(false)
  expect(looksEncrypted(armor(concat(ours)))).toBe(false)
  expect(looksEncrypted('hello')).toBe(false)
})

const idOf = (fingerprint: string): string => fingerprint.slice(-16)

test.each([
  ['one recipient', [ours], [bot.subkey], false],
  ['a password beside ours', [skesk, ours], [bot.subkey], true],
  ['somebody who is not named', [ours, anonymousPkesk(bot.subkey, KEY)], [bot.subkey], true],
  [
    'recipient packets of both versions',
    [pkesk6(mallory.subkey, KEY), ours, pkesk(alice.subkey, KEY)],
    [mallory.subkey, bot.subkey, alice.subkey],
    false,
  ],
  [
    'a packet of a version that nobody knows',
    [packet(1, concat(23, seeded('v', 60))), ours],
    [bot.subkey],
    true,
  ],
])('a message tells to whom it is sealed: %s', (_, packets, keys, hasUnnamed) => {
  const encrypted = parseMessageBytes(
    concat(...packets, box),
    idsOf([bot.unlocked]),
  ) as EncryptedMessage
  const ids = Buffer.from(encrypted.recipients.keyIds).toString('hex').match(/.{16}/g)
  expect(ids).toEqual(keys.map(({ fingerprint }) => idOf(fingerprint)))
  expect(encrypted.recipients.hasUnnamed).toBe(hasUnnamed)
})

test('a thousand recipients are all told', () => {
  const others = Array.from({ length: 1000 }, (_, n) => strangerPkesk(`stranger ${n}`))
  const encrypted = parseMessageBytes(
    concat(...others, ours, box),
    idsOf([bot.unlocked]),
  ) as EncryptedMessage
  expect(encrypted.recipients.keyIds.length).toBe(1001 * 8)
  expect(Buffer.from(encrypted.recipients.keyIds.subarray(-8)).toString('hex')).toBe(
    idOf(bot.subkey.fingerprint),
  )
})
