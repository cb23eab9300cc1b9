import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { parseMessage } from '../../../src/openpgp/format/encrypted-message.ts'
import { idsOf, openArmored, openInner, outcomeOf, toBot } from '../../support/openpgp-engine.ts'
import {
  BZIP2_BOMB,
  BZIP2_EMPTY,
  BZIP2_HELLO,
  BZIP2_NESTED,
  BZIP2_SIGNED,
} from '../../support/openpgp-bzip2.ts'
import { armor, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'

const MIB = 1024 * 1024
const hello = literal('hello')
const deflated = deflateRawSync(hello)

test.each([
  ['not at all', compressed(hello, 0)],
  ['with zip', compressed(hello, 1)],
  ['with zlib', compressed(hello, 2)],
  ['with bzip2', compressedOf(3, BZIP2_HELLO)],
  ['with zip, of indeterminate length', oldPacket(8, concat(1, deflated), 0)],
  ['with zip, in an old header', oldPacket(8, concat(1, deflated), 2)],
  ['not at all, in chunks', partialPacket(8, concat(0, literal('hello')), [])],
  [
    'P23 with zip and padded behind, as sq writes it',
    compressedOf(1, concat(deflated, Buffer.alloc(400))),
  ],
  ['P23 with zip and padded with noise', compressedOf(1, concat(deflated, seeded('padding', 400)))],
  [
    'P23 with zlib and padded behind',
    compressedOf(2, concat(deflateSync(hello), Buffer.alloc(400))),
  ],
  ['with zip in stored blocks', compressedOf(1, deflateRawSync(hello, { level: 0 }))],
])('compressed %s: opens', async (_, packets) => {
  expect(await openInner(packets)).toMatchObject({ outcome: 'opened', text: 'hello' })
})

test.each([
  ['zip', compressed(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }), 1)],
  ['bzip2', compressedOf(3, BZIP2_SIGNED)],
])('a signature inside %s is kept', async (_, packets) => {
  expect(await openInner(packets)).toMatchObject({
    outcome: 'opened',
    text: 'hello',
    signatures: [{ issuerKeyId: alice.primary.keyId, createdMs: NOW_MS }],
  })
})

test.each([
  ['P23 zip in zip', compressed(compressed(hello, 1), 1), 'structure'],
  ['P23 nothing in none', compressed(compressed(hello, 1), 0), 'structure'],
  ['P23 zip in bzip2', compressedOf(3, BZIP2_NESTED), 'compression'],
  ['P23 empty zip', compressed(Buffer.alloc(0), 1), 'structure'],
  ['P23 empty bzip2', compressedOf(3, BZIP2_EMPTY), 'compression'],
  ['P23 no data at all', compressedOf(1, Buffer.alloc(0)), 'compression'],
  ['no algorithm either', packet(8, Buffer.alloc(0)), 'compression'],
  ['P24 unknown algorithm 77', compressedOf(77, deflated), 'compression'],
  ['P24 private algorithm 110', compressedOf(110, deflated), 'compression'],
  ['P24 truncated zip', compressedOf(1, deflated.subarray(0, -2)), 'compression'],
  ['P24 truncated zlib', compressedOf(2, deflateSync(hello).subarray(0, -2)), 'compression'],
  ['P24 truncated bzip2', compressedOf(3, BZIP2_HELLO.subarray(0, -8)), 'compression'],
  ['zlib under the number of zip', compressedOf(1, deflateSync(hello)), 'compression'],
  ['zip under the number of zlib', compressedOf(2, deflated), 'compression'],
  ['gzip under the number of zlib', compressedOf(2, gzipSync(hello)), 'compression'],
  ['noise under the number of bzip2', compressedOf(3, seeded('noise', 300)), 'compression'],
  [
    'zlib with a wrong checksum',
    compressedOf(2, concat(deflateSync(hello).subarray(0, -1), 0)),
    'compression',
  ],
])('%s: damaged', async (_, packets, why) => {
  expect(outcomeOf(await openInner(packets))).toBe(`damaged: ${why}`)
})

/** A literal packet of so many zeros. */
const zeros = (length: number): Buffer =>
  concat(0xcb, 255, u32(length + 6), Buffer.from('b'), 0, u32(0), Buffer.alloc(length))

/** As large a bomb as one message can carry. */
const zipBomb = (algorithm: 1 | 2): Buffer => compressed(zeros(64 * MIB), algorithm)

test.each([
  ['P21 zip', zipBomb(1), 'too-large: decompressed'],
  ['P21 zlib', zipBomb(2), 'too-large: decompressed'],
  ['P21 bzip2 of 300 MiB in 263 bytes', compressedOf(3, BZIP2_BOMB), 'too-large: decompressed'],
])('a bomb of %s does not open, and takes no memory', async (_, packets, expected) => {
  expect(armor(toBot(packets)).length).toBeLessThan(BOUNDS.messageChars)
  await openInner(hello)
  const before = process.resourceUsage().maxRSS
  for (let round = 0; round < 5; round++) expect(outcomeOf(await openInner(packets))).toBe(expected)
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(48)
})

test('P20 a bomb that is not encrypted is never inflated', () => {
  const bombs = [zipBomb(1), zipBomb(2), compressedOf(3, BZIP2_BOMB)].map((packets) =>
    armor(packets),
  )
  const before = process.resourceUsage().maxRSS
  for (const text of bombs) {
    expect(outcomeOf(parseMessage(text, idsOf([bot.unlocked])))).toBe('not-encrypted: structure')
  }
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(16)
})

test('a text of exactly the bound opens from any compression, of one byte more is too large', async () => {
  const within = literal('x'.repeat(BOUNDS.textBytes))
  const beyond = literal('x'.repeat(BOUNDS.textBytes + 1))
  for (const algorithm of [1, 2] as const) {
    expect(outcomeOf(await openInner(compressed(within, algorithm)))).toBe('opened')
    expect(outcomeOf(await openInner(compressed(beyond, algorithm)))).toBe('too-large: text')
  }
})

test('P22 a text of 90 KB that is not compressed opens', async () => {
  const text = seeded('long', 45_000).toString('hex')
  expect(await openArmored(armor(toBot(literal(text))))).toMatchObject({ outcome: 'opened', text })
})

test('P21 two mebibytes under algorithm none cannot even be sent', async () => {
  const text = armor(toBot(compressed(zeros(2 * MIB), 0)))
  expect(outcomeOf(await openArmored(text))).toBe('too-large: armor')
})
