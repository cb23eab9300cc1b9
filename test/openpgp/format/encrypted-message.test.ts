import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  looksEncrypted,
  parseMessage,
  parseMessageBytes,
  FORM_BYTES,
  sealedForm,
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
  packet,
  partialPacket,
  oldPacket,
} from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { alice, bot, NOW_MS } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  seipd,
  seipd2,
  seipdBody,
  strangerPkesk,
  pkeskBody,
} from '../../support/openpgp-sealed.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { deflateSync, gzipSync } from 'node:zlib'

const ours = pkesk(bot.subkey, KEY)
const box = seipd(literal('hello'), KEY)
const marker = packet(10, Buffer.from('PGP'))
/** Asks for 2^30 KiB of memory and 255 passes (RFC 9580, 3.7.1.4). */
const argon2 = packet(3, concat(6, 0, 9, 2, 4, 20, seeded('salt', 16), 255, 4, 30, seeded('x', 40)))
const unknown = (tag: number): Buffer => packet(tag, seeded('unknown', 20))

test.each([
  ['an empty PKESK packet beside the own one', [packet(1, Buffer.alloc(0)), ours, box]],
  ['ignorable packets behind the container (P18)', [ours, box, marker, unknown(45), unknown(60)]],
])('a message with %s opens', async (_, packets) => {
  const opened = await openPackets(concat(...packets))
  expect(outcomeOf(opened)).toBe('opened')
})

test.each([
  ['a packet of tag 0', [ours, packet(0, seeded('x', 3)), box], 'damaged: structure'],
  [
    'a container of version 0 (P15)',
    [ours, packet(18, concat(0, seeded('x', 80)))],
    'damaged: container-version',
  ],
  ['an empty container (P15)', [ours, packet(18, Buffer.alloc(0))], 'damaged: container-version'],
  [
    'a critical unknown packet behind the container (P18)',
    [ours, box, unknown(30)],
    'damaged: trailing-data',
  ],
  [
    'a trust packet behind the container (P18)',
    [ours, box, packet(12, concat(1, 2))],
    'damaged: trailing-data',
  ],
  ['line ends behind the container (P18)', [ours, box, Buffer.from('\n\n')], 'damaged: header'],
  ['markers alone', [marker, marker], 'not-encrypted'],
  ['a container alone', [box], 'not-recipient'],
])('a message with %s does not open', async (_, packets, expected) => {
  expect(outcomeOf(await openPackets(concat(...packets)))).toBe(expected)
})

test('`parseMessage` keeps the own PKESK packet and the container, and drops PKESK packets of others', () => {
  const strangers = Array.from({ length: 50 }, (_, index) => strangerPkesk(String(index)))
  const encrypted = parsePackets(concat(...strangers, argon2, ours, box)) as EncryptedMessage
  expect(encrypted.outcome).toBe('encrypted')
  expect(encrypted.named).toBe(true)
  expect(encrypted.recipientPackets).toEqual([ours])
  expect(Buffer.from(encrypted.container)).toEqual(seipdBody(literal('hello'), KEY))
})

test('a parsed message stays unchanged while other messages are parsed', () => {
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

test('`dataDigest` is the hash of the container, independent of framing and recipients', () => {
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

test('a PKESK packet names the bot by the id of the primary key or by a fingerprint', () => {
  const named = strangerPkesk('a', bot.primary.keyId)
  expect(parsePackets(concat(named, box))).toMatchObject({ outcome: 'encrypted', named: true })
  const v6 = pkesk6(bot.subkey, KEY)
  expect(parsePackets(concat(v6, seipd2(literal('x'), KEY)))).toMatchObject({ named: true })
})

test('a message is `not-recipient` for a bot without keys', () => {
  expect(parseMessageBytes(concat(ours, box), idsOf([]))).toEqual({ outcome: 'not-recipient' })
  expect(parseMessageBytes(concat(anonymousPkesk(bot.subkey, KEY), box), idsOf([]))).toEqual({
    outcome: 'not-recipient',
  })
})

test('`looksEncrypted` is true for any complete encrypted message, for any recipients', () => {
  expect(looksEncrypted(armor(hello()))).toBe(true)
  expect(looksEncrypted(armor(concat(strangerPkesk('a'), box)))).toBe(true)
  expect(looksEncrypted(armor(concat(box)))).toBe(true)
  expect(looksEncrypted(armor(literal('hello')))).toBe(false)
  expect(looksEncrypted(armor(concat(ours)))).toBe(false)
  expect(looksEncrypted('hello')).toBe(false)
})

const opens = { outcome: 'opened', text: 'hello' }
const strangers = (count: number, keyId?: string): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => strangerPkesk(`flood ${index}`, keyId)))

test('a message opens although `BOUNDS.namedAttempts - 1` PKESK packets name the own key falsely', async () => {
  const packets = concat(strangers(BOUNDS.namedAttempts - 1, bot.subkey.keyId), ours, box)
  expect(await openPackets(packets)).toMatchObject(opens)
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

const formOf = (content: Uint8Array | string): string | null =>
  sealedForm(Buffer.from(content).subarray(0, FORM_BYTES))

const container = seipdBody(literal(seeded('much', 5000)), KEY)
const recipient = pkeskBody(bot.subkey, KEY, 'x')

test.each([
  ['a message', hello()],
  ['a message for another key', concat(strangerPkesk('x'), packet(18, container))],
  ['a message with old headers', concat(oldPacket(1, recipient, 2), packet(18, container))],
  ['a message with long headers', concat(longPacket(1, recipient), longPacket(18, container))],
  [
    'a message with a version 6 PKESK packet',
    concat(pkesk6(bot.subkey, KEY), packet(18, container)),
  ],
  ['a container in partial chunks', partialPacket(18, container, [9])],
  ['an SKESK packet', packet(3, concat('040900'))],
  ['a message behind a marker', concat(packet(10, Buffer.from('PGP')), hello())],
  ['a message behind padding', concat(packet(21, seeded('padding', 300)), hello())],
  ['a message behind a private packet', concat(unknown(60), hello())],
  [
    'a message behind a PKESK packet of version 23',
    concat(packet(1, concat(23, seeded('x', 80))), hello()),
  ],
])('`sealedForm` recognizes %s, binary and armored', (_, bytes) => {
  expect(formOf(bytes)).toBe('binary')
  expect(formOf(armor(bytes))).toBe('armored')
  expect(formOf(armor(bytes, { headers: ['Version: X', 'Comment:'], endOfLine: '\r\n' }))).toBe(
    'armored',
  )
  expect(formOf(`\n\n${armor(bytes)}`)).toBe('armored')
})

const file = armor(hello())
const headers = (...lines: string[]): string => armor(hello(), { headers: lines })

test.each([
  ['a header key of two words', headers('Two Words: x')],
  ['headers beyond `FORM_BYTES`', headers('Comment: x', `Comment: ${'x'.repeat(5000)}`)],
  ['no empty line', file.replace('\n\n', '\n')],
  ['several empty lines', file.replace('\n\n', '\n \n\n\n')],
  ['an indented BEGIN', ` ${file}`],
  ['a wrong checksum', file.replace(/^=....$/m, '=AAAA')],
  ['one line', armor(hello(), { lineChars: 100_000 })],
  ['lines of four characters', armor(hello(), { lineChars: 4 })],
  ['no data', '-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----\n'],
  ['words for a header', headers('hello')],
  ['words for data', '-----BEGIN PGP MESSAGE-----\n\nhello, world!\n'],
])('`sealedForm` recognizes an armored file with %s', (_, content) => {
  expect(formOf(content)).toBe('armored')
})

test.each([
  ['no bytes', ''],
  ['plain text', 'hello'],
  ['text that begins like a packet', 'été à la plage'],
  ['JPEG', concat('ffd8ffe000104a46494600010100000100010000', seeded('jpeg', 500))],
  ['PNG', concat('89504e470d0a1a0a0000000d49484452', seeded('png', 500))],
  ['PDF', '%PDF-1.7\n'],
  ['zlib', deflateSync('x'.repeat(99))],
  ['gzip', gzipSync('x'.repeat(99))],
  ['a literal', literal('hello')],
  ['a signed message', signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })],
  [
    'an armored signed message',
    armor(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })),
  ],
  ['a certificate', alice.certificate],
  ['a secret key', concat(packet(5, alice.primary.secretBody))],
  ['unprotected encrypted data', packet(9, seeded('x', 50))],
  ['a container of version 7', packet(18, concat(7, seeded('x', 50)))],
  ['text that quotes armor', 'see -----BEGIN PGP MESSAGE-----\n\nand'],
  ['a message behind a literal', concat(literal('hello'), hello())],
  ['a message behind text', concat(Buffer.from('hello'), hello())],
  ['a marker alone', packet(10, Buffer.from('PGP'))],
  ['half a header', concat('c1')],
  ['armored text', `-----BEGIN PGP MESSAGE-----\n\n${btoa('hello')}\n`],
])('`sealedForm` rejects %s', (_, content) => {
  expect(formOf(content)).toBeNull()
})

test('`sealedForm` rejects a message whose first `FORM_BYTES` are padding', () => {
  const padding = packet(21, seeded('padding', FORM_BYTES))
  expect(formOf(concat(padding, seipd(literal('hello'), KEY)))).toBeNull()
})

test.each([
  ['public key encrypted session key', 1, [2, 3, 6]],
  ['symmetric key encrypted session key', 3, [4, 5, 6]],
  ['encrypted data', 18, [1, 2]],
])('`sealedForm` recognizes a %s packet in its known versions alone', (_, tag, versions) => {
  const beginning = Array.from({ length: 16 }, (__, version) => version).filter(
    (version) => sealedForm(packet(tag, Buffer.of(version, 0))) === 'binary',
  )
  expect(beginning).toEqual(versions)
})
