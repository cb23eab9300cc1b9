import { expect, test } from 'vitest'
import { openInner, outcomeOf } from '../../support/openpgp-engine.ts'
import { oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral, compressedOf } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk, sessionKey } from '../../support/openpgp-sealed.ts'
import { TYPE, onePass, signature, notation } from '../../support/openpgp-signature.ts'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { BZIP2_EMPTY, BZIP2_HELLO } from '../../support/openpgp-bzip2.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { readDecrypted, readUncompressed } from '../../../src/openpgp/format/decrypted-message.ts'

const by = { signer: alice.primary, atMs: NOW_MS }
const hello = literal('hello')
const signed = signedLiteral('hello', by)
const opening = onePass(by)
const closing = signature({ ...by, over: Buffer.from('hello') })
const other = sessionKey('inside')
const marker = packet(10, Buffer.from('PGP'))
const padding = packet(21, seeded('padding', 100))
const sixteen = Array.from({ length: 16 }, () => by)

test.each([
  ['two signatures before a literal', [closing, closing, hello], 2],
  ['sixteen one-pass signatures', [signedLiteral('hello', sixteen)], 16],
  [
    'markers and padding between all packets',
    [marker, opening, padding, hello, marker, closing, padding],
    1,
  ],
  [
    'unknown packets of non-critical types',
    [packet(60, seeded('x', 9)), signed, packet(40, seeded('y', 9))],
    1,
  ],
  [
    'old packet headers',
    [
      oldPacket(4, opening.subarray(2), 1),
      oldPacket(11, hello.subarray(2), 4),
      oldPacket(2, closing.subarray(2), 2),
    ],
    1,
  ],
  [
    'a signature before compressed data, which does not count (P39)',
    [closing, compressed(hello, 1)],
    0,
  ],
])('a message with %s opens with the signatures that count', async (_, packets, signatures) => {
  const opened = await openInner(concat(...packets))
  expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
  expect(opened.outcome === 'opened' && opened.signatures).toHaveLength(signatures)
})

test.each([
  ['markers and padding alone', [marker, padding], 'structure'],
  ['one one-pass packet and two signatures (P26)', [opening, hello, closing, closing], 'structure'],
  ['signatures before and behind (P26)', [closing, hello, closing], 'structure'],
  [
    'a signature and a one-pass packet before (P26)',
    [closing, opening, hello, closing],
    'structure',
  ],
  [
    'a signature and a one-pass packet before, two signatures behind (P26)',
    [closing, opening, hello, closing, closing],
    'structure',
  ],
  ['a one-pass packet behind (P26)', [hello, opening], 'structure'],
  [
    'more signatures before it than the bound (P29)',
    [...Array.from({ length: BOUNDS.signatures + 1 }, () => closing), hello],
    'too-many-signatures',
  ],
  [
    'a one-pass packet and compressed data, without a signature',
    [opening, compressed(hello, 2)],
    'structure',
  ],
  ['a signature behind compressed data', [compressed(hello, 2), closing], 'structure'],
  [
    'a user id beside a compressed packet',
    [packet(13, Buffer.from('x')), compressed(hello, 2)],
    'structure',
  ],
  ['a user id beside a literal', [packet(13, Buffer.from('x')), hello], 'structure'],
  ['a public key', [packet(6, alice.primary.body)], 'structure'],
  ['a hash packet of its own', [hello, packet(19, seeded('x', 20))], 'structure'],
  ['a recipient packet beside a literal', [pkesk(bot.subkey, other), hello], 'structure'],
])('a message with %s is damaged', async (_, packets, why) => {
  expect(outcomeOf(await openInner(concat(...packets)))).toBe(`damaged: ${why}`)
})

test.each([
  ['type', { ...by, type: TYPE.text }],
  ['hash', { ...by, hash: 'sha512' as const }],
  ['algorithm', { ...by, signer: { ...alice.primary, algorithm: 1 } }],
])(
  'a one-pass packet with another %s than its signature damages the message',
  async (_, options) => {
    const packets = concat(onePass(options), hello, closing)
    expect(outcomeOf(await openInner(packets))).toBe('damaged: one-pass')
  },
)

test('the one-pass packets of a message are paired with its signatures from the inside out', async () => {
  const text = { ...by, type: TYPE.text }
  const closeText = signature({ ...text, over: Buffer.from('hello') })
  const nested = concat(onePass(text), opening, hello, closing, closeText)
  expect(outcomeOf(await openInner(nested))).toBe('opened')
  const crossed = concat(onePass(text), opening, hello, closeText, closing)
  expect(outcomeOf(await openInner(crossed))).toBe('damaged: one-pass')
  const outer = concat(onePass(text), opening, hello, closing, closing)
  expect(outcomeOf(await openInner(outer))).toBe('damaged: one-pass')
})

test('two signatures without a readable claim have different digests', async () => {
  const odd = signature({ ...by, type: TYPE.standalone, over: Buffer.from('hello') })
  const opened = await openInner(concat(odd, odd, hello))
  const claims = opened.outcome === 'opened' ? opened.signatures : []
  expect(claims.map(({ digest }) => digest)).toEqual(['unreadable-0', 'unreadable-1'])
  expect(claims.map(({ intended }) => intended)).toEqual([[], []])
})

test.each([3, 5, 9])(
  'a signature of version %i verifies nothing, and one beside it does',
  async (version) => {
    const odd = packet(2, concat(version, closing.subarray(3)))
    for (const packets of [
      [opening, hello, odd],
      [odd, hello],
    ]) {
      const opened = await openInner(concat(...packets))
      expect(opened).toMatchObject({ text: 'hello', signatures: [{ issuerKeyId: null }] })
      if (opened.outcome !== 'opened') return
      expect(await verify(opened.signed, alice.certificate, NOW_MS)).toEqual(['unknown-form'])
    }
    const beside = await openInner(concat(opening, opening, hello, odd, closing))
    if (beside.outcome !== 'opened') throw new Error(outcomeOf(beside))
    expect(await verify(beside.signed, alice.certificate, NOW_MS)).toEqual([
      'unknown-form',
      'valid',
    ])
  },
)

test('a damaged literal inside a signed compressed packet is reported as `literal`', async () => {
  const inner = concat(onePass(by), compressed(packet(11, Buffer.from('u')), 2), closing)
  expect(await openInner(inner)).toEqual({ outcome: 'damaged', reason: 'literal' })
})

test.each(['b', 't', 'u', 'm', 'l', '1', 'z', '\0'])(
  'a literal of format %j with UTF-8 opens (P40)',
  async (format) => {
    const text = 'grüße, 世界 🌍'
    expect(await openInner(literal(text, { format }))).toMatchObject({ outcome: 'opened', text })
  },
)

test.each([
  ['a lone continuation byte', concat(0x80)],
  ['an overlong slash', concat('c0af')],
  ['a character beyond the last', concat('f4908080')],
  ['a sequence cut short', concat(Buffer.from('hello'), 'e4b8')],
  ['noise', seeded('noise', 200)],
])('a literal with %s is damaged as `encoding` in every format (P41)', async (_, data) => {
  for (const format of ['b', 't', 'u', 'm', 'z']) {
    expect(outcomeOf(await openInner(literal(data, { format })))).toBe('damaged: encoding')
  }
})

test.each([
  ['80,000 line ends (P42)', '\n'.repeat(80_000)],
  ['noncharacters', 'a\ufffeb\uffffc'],
  ['a replacement character', 'a\ufffdb'],
])('a literal with %s keeps its text', async (_, text) => {
  expect(await openInner(literal(text))).toMatchObject({ outcome: 'opened', text })
})

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['a format and no more', Buffer.from('u')],
  ['a name longer than the packet', concat(Buffer.from('u'), 200, 'abcd')],
  ['no date', concat(Buffer.from('u'), 0, '000000')],
])('a literal packet with %s is damaged as `literal`', async (_, body) => {
  expect(outcomeOf(await openInner(packet(11, body)))).toBe('damaged: literal')
})

const deflated = deflateRawSync(hello)
const nested = (depth: number, inner = hello): Buffer =>
  depth === 0 ? inner : compressed(nested(depth - 1, inner), depth % 2 === 0 ? 1 : 0)

test('signed words in `BOUNDS.nestedCompressions` compressed packets open, and a bomb in two is too large', async () => {
  const opened = await openInner(nested(BOUNDS.nestedCompressions, signed))
  expect(opened).toMatchObject({ text: 'hello', signatures: [{}] })
  const around = concat(opening, nested(3, signed), closing)
  expect(await openInner(around)).toMatchObject({ text: 'hello', signatures: [] })
  const bomb = nested(2, compressed(literal(Buffer.alloc(1 << 20)), 1))
  expect(outcomeOf(await openInner(bomb))).toBe('too-large: decompressed')
})

test.each([
  ['by no algorithm, in partial chunks', partialPacket(8, concat(0, literal('hello')), [])],
  [
    'by zip, with noise behind its end (P23)',
    compressedOf(1, concat(deflated, seeded('padding', 400))),
  ],
  [
    'by zlib, with zeros behind its end (P23)',
    compressedOf(2, concat(deflateSync(hello), Buffer.alloc(400))),
  ],
  ['by zip, in stored blocks', compressedOf(1, deflateRawSync(hello, { level: 0 }))],
])('a literal that is compressed %s opens', async (_, packets) => {
  expect(await openInner(packets)).toMatchObject({ outcome: 'opened', text: 'hello' })
})

test.each([
  [
    'compressed data in it deeper than the bound (P23)',
    nested(BOUNDS.nestedCompressions + 1),
    'structure',
  ],
  ['empty bzip2 data (P23)', compressedOf(3, BZIP2_EMPTY), 'structure'],
  ['no zip data at all (P23)', compressedOf(1, Buffer.alloc(0)), 'compression'],
  ['truncated bzip2 data (P24)', compressedOf(3, BZIP2_HELLO.subarray(0, -8)), 'compression'],
  ['zlib data labelled as zip', compressedOf(1, deflateSync(hello)), 'compression'],
  ['zip data labelled as zlib', compressedOf(2, deflated), 'compression'],
  ['gzip data labelled as zlib', compressedOf(2, gzipSync(hello)), 'compression'],
  ['noise labelled as bzip2', compressedOf(3, seeded('noise', 300)), 'compression'],
  [
    'zlib data with a wrong checksum',
    compressedOf(2, concat(deflateSync(hello).subarray(0, -1), 0)),
    'compression',
  ],
])('a compressed packet with %s is damaged', async (_, packets, why) => {
  expect(outcomeOf(await openInner(packets))).toBe(`damaged: ${why}`)
})

test('a compressed text of `BOUNDS.textBytes` opens, and one of a byte more is too large', async () => {
  const within = literal('x'.repeat(BOUNDS.textBytes))
  const beyond = literal('x'.repeat(BOUNDS.textBytes + 1))
  for (const algorithm of [1, 2] as const) {
    expect(outcomeOf(await openInner(compressed(within, algorithm)))).toBe('opened')
    expect(outcomeOf(await openInner(compressed(beyond, algorithm)))).toBe('too-large: text')
  }
})

const document = Buffer.from('hello')
const never = (): Promise<never> => Promise.reject(new Error('not asked for'))

test.each([
  ['a document', literal('hello')],
  ['a signed document', signedLiteral('hello', by)],
  ['a signature before a document', concat(signature({ ...by, over: document }), literal('hello'))],
  ['no document', packet(13, document)],
  ['no bytes', Buffer.alloc(0)],
  ['a one-pass packet without a signature', concat(onePass(by), literal('hello'))],
  ['bytes that are no packet', document],
  ['a truncated packet', literal('hello').subarray(0, -1)],
])('`readUncompressed` reads %s with the result of `readDecrypted`', async (_, bytes) => {
  const read = readUncompressed(bytes)
  expect(read).not.toBeNull()
  expect(read).toEqual(await readDecrypted(bytes, never))
})

test.each([
  ['alone', [compressed(literal('hello'), 2)]],
  [
    'among others',
    [onePass(by), compressed(literal('hello'), 2), signature({ ...by, over: document })],
  ],
])('`readUncompressed` leaves a compressed packet %s to `readDecrypted`', (_, packets) => {
  expect(readUncompressed(concat(...packets))).toBeNull()
})

test('`readUncompressed` reads a signature packet of 512 bytes and leaves one of 513 to `readDecrypted`', () => {
  const filled = (bytes: number): Buffer =>
    signature({ ...by, over: document, hashed: [notation('a@b', 'x'.repeat(bytes))] })
  const bodyBytes = (one: Buffer): number => one.length - 3
  const least = bodyBytes(filled(200))
  const of = (bytes: number): Buffer => filled(200 + bytes - least)
  expect([bodyBytes(of(512)), bodyBytes(of(513))]).toEqual([512, 513])
  expect(readUncompressed(concat(of(512), literal('hello')))).toMatchObject({ outcome: 'document' })
  expect(readUncompressed(concat(of(513), literal('hello')))).toBeNull()
  expect(readUncompressed(literal('x'.repeat(600)))).toMatchObject({ outcome: 'document' })
})
