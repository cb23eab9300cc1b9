import { expect, test } from 'vitest'
import { FramingError, isIgnorable, packetsOf } from '../../../src/openpgp/format/packets.ts'
import { framePacket, framedLength } from '../../../src/openpgp/format/packet-writer.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { longPacket, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'

const read = (bytes: Uint8Array): { tag: number; body: string }[] =>
  [...packetsOf(bytes)].map(({ tag, body }) => ({ tag, body: Buffer.from(body).toString('hex') }))

/** Reads one packet that fills the bytes. */
const one = (bytes: Uint8Array): { tag: number; body: string } => {
  const all = read(bytes)
  expect(all).toHaveLength(1)
  return all[0] ?? { tag: -1, body: '' }
}

const body = (length: number): Buffer => seeded('body', length)
const hexBody = (length: number): string => body(length).toString('hex')

test.each([0, 1, 191, 192, 193, 8382, 8383, 8384, 8385, 65_535, 65_536, 100_000])(
  'a packet body of %i bytes is read in every definite form and written in the shortest',
  (length) => {
    const expected = { tag: 11, body: hexBody(length) }
    expect(one(packet(11, body(length)))).toEqual(expected)
    expect(one(longPacket(11, body(length)))).toEqual(expected)
    expect(one(oldPacket(11, body(length), 4))).toEqual(expected)
    if (length < 256) expect(one(oldPacket(11, body(length), 1))).toEqual(expected)
    if (length < 65_536) expect(one(oldPacket(11, body(length), 2))).toEqual(expected)
    expect(framePacket(11, body(length))).toEqual(packet(11, body(length)))
    expect(framedLength(length)).toBe(packet(11, body(length)).length)
  },
)

test('each packet tag is read in the new format, and the tags 0 to 15 in the old one', () => {
  for (let tag = 0; tag < 64; tag++) expect(one(packet(tag, body(3))).tag).toBe(tag)
  for (let tag = 0; tag < 16; tag++) expect(one(oldPacket(tag, body(3), 1)).tag).toBe(tag)
})

test.each([
  ['one chunk and a rest', [9], 700],
  ['one chunk and an empty rest', [9], 512],
  ['several chunks', [9, 10, 9, 13], 10_500],
  ['a large chunk', [16], 65_537],
  ['small chunks behind the first', [9, 8, 0, 1], 900],
] as const)('a packet with %s in partial lengths is read as one body', (_, powers, length) => {
  for (const tag of [8, 11, 18]) {
    const expected = { tag, body: hexBody(length) }
    expect(one(partialPacket(tag, body(length), [...powers]))).toEqual(expected)
  }
})

test('the packet behind a packet in partial chunks is read', () => {
  const bytes = concat(partialPacket(18, body(700), [9]), packet(21, body(5)))
  expect(read(bytes).map(({ tag }) => tag)).toEqual([18, 21])
})

test.each([8, 11])('a packet of tag %i and indeterminate length extends to the end', (tag) => {
  expect(one(oldPacket(tag, body(9000), 0))).toEqual({ tag, body: hexBody(9000) })
})

const refused: [string, Uint8Array, string][] = [
  ['a first bit of zero', concat(0x40, 1, 1), 'header'],
  ['text in place of packets', Buffer.from('hello'), 'header'],
  ['a zero byte after a packet', concat(packet(11, body(3)), 0), 'header'],
  ['no length', concat(0xcb), 'length'],
  ['half a two-byte length', concat(0xcb, 200), 'length'],
  ['part of a five-byte length', concat(0xcb, 255, 0, 0, 1), 'length'],
  ['a body shorter than its length', packet(11, body(50)).subarray(0, -1), 'length'],
  ['a length of 4 GiB', concat(0xcb, 255, 'ffffffff', body(10)), 'length'],
  ['an old length beyond the end', concat(0x80 | (11 << 2), 5, 1, 2), 'length'],
  ['an old four-byte length cut short', concat(0x82 | (11 << 2), 0, 0, 0), 'length'],
  ['an old length of 4 GiB', concat(0x82 | (11 << 2), u32(0xffff_ffff), 1), 'length'],
  ['a recipient packet of indeterminate length', oldPacket(1, body(20), 0), 'indeterminate'],
  ['a signature of indeterminate length', oldPacket(2, body(20), 0), 'indeterminate'],
  ['a chunk of one byte', partialPacket(18, body(20), [0]), 'partial-length'],
  ['a first chunk of 256 bytes', partialPacket(18, body(600), [8]), 'partial-length'],
  [
    'a first chunk of 256 bytes and a larger one',
    partialPacket(11, body(900), [8, 9]),
    'partial-length',
  ],
  ['a chunk beyond the end', concat(0xd2, 224 + 9, body(511)), 'length'],
  ['chunks that never end', concat(0xd2, 224 + 9, body(512)), 'length'],
  ['a last chunk beyond the end', concat(0xd2, 224 + 9, body(512), 100, body(50)), 'length'],
  ['a chunk of 1 GiB', concat(0xd2, 254, body(100)), 'length'],
  ['recipient packets in chunks', partialPacket(1, body(600), [9]), 'partial-tag'],
  ['a user id in chunks', partialPacket(13, body(600), [9]), 'partial-tag'],
  ['unprotected data in chunks', partialPacket(9, body(600), [9]), 'partial-tag'],
]

test.each(refused)('a packet sequence with %s is rejected', (_, bytes, reason) => {
  expect(() => read(bytes)).toThrow(FramingError)
  expect(() => read(bytes)).toThrow(reason)
})

test('a packet of more than `BOUNDS.partialChunks` chunks is rejected', () => {
  const chunks = (count: number): Buffer => {
    const chunk = concat(224 + 9, Buffer.alloc(512))
    return concat(0xd2, Buffer.alloc(chunk.length * count, chunk), 0)
  }
  expect(one(chunks(BOUNDS.partialChunks - 1)).tag).toBe(18)
  expect(() => [...packetsOf(chunks(BOUNDS.partialChunks))]).toThrow('partial-count')
})

test('`packetsOf` returns views of the input, not copies', () => {
  const bytes = packet(18, body(1000))
  for (const { body: view } of packetsOf(bytes)) expect(view.buffer).toBe(bytes.buffer)
})

test('`isIgnorable` is true for markers, padding and the tags from 40 on alone', () => {
  const ignorable = Array.from({ length: 64 }, (_, tag) => tag).filter(isIgnorable)
  expect(ignorable).toEqual([10, 21, ...Array.from({ length: 24 }, (_, index) => 40 + index)])
})
