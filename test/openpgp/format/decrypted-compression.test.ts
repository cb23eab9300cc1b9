import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { openInner, outcomeOf } from '../../support/openpgp-engine.ts'
import { BZIP2_EMPTY, BZIP2_HELLO } from '../../support/openpgp-bzip2.ts'
import { oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
const hello = literal('hello')
const deflated = deflateRawSync(hello)

test.each([
  ['by zip, of indeterminate length', oldPacket(8, concat(1, deflated), 0)],
  ['by zip, under an old header', oldPacket(8, concat(1, deflated), 2)],
  ['by no algorithm, in partial chunks', partialPacket(8, concat(0, literal('hello')), [])],
  [
    'by zip, with zeros behind its end as sq pads (P23)',
    compressedOf(1, concat(deflated, Buffer.alloc(400))),
  ],
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
  ['zip inside uncompressed data (P23)', compressed(compressed(hello, 1), 0), 'structure'],
  ['empty bzip2 data (P23)', compressedOf(3, BZIP2_EMPTY), 'compression'],
  ['no zip data at all (P23)', compressedOf(1, Buffer.alloc(0)), 'compression'],
  ['no algorithm', packet(8, Buffer.alloc(0)), 'compression'],
  ['the private algorithm 110 (P24)', compressedOf(110, deflated), 'compression'],
  ['truncated zlib data (P24)', compressedOf(2, deflateSync(hello).subarray(0, -2)), 'compression'],
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
