import { createCipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { CIPHERS } from '../../../src/openpgp/format/ciphers.ts'
import { Extents, RestingFile, RestingWriter } from '../../../src/openpgp/stream/resting.ts'
import { runs } from '../../support/chance.ts'
import { MemoryFile, contentOf } from '../../support/memory-room.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { fc } from '../../support/property.ts'

const KIB = 1024
const text = seeded('at rest', 700 * KIB)

/** Puts a document to rest, in pieces that end at these places. */
async function rested(
  document: Uint8Array,
  ends: number[] = [],
): Promise<[RestingFile, MemoryFile]> {
  const raw = new MemoryFile()
  const writer = new RestingWriter(raw)
  let at = 0
  for (const end of [...ends, document.length]) {
    await writer.write(document.subarray(at, end))
    at = end
  }
  return [await writer.finish(), raw]
}

test.each([
  ['nothing', 0, []],
  ['a byte', 1, []],
  ['a block and a byte', 17, [16]],
  ['exactly what is written at once', 256 * KIB, [1]],
  ['a byte more', 256 * KIB + 1, [256 * KIB]],
  ['several times that', 700 * KIB, [3, 3, 300 * KIB]],
] as const)('%s comes back as it was put to rest', async (_, length, ends) => {
  const [file, raw] = await rested(text.subarray(0, length), [...ends])
  expect(file.bytes).toBe(length)
  expect((await contentOf(file)).equals(text.subarray(0, length))).toBe(true)
  expect(file.restingBytes).toBe(length)
  expect(raw.content).toHaveLength(length)
})

test('on the disk there is nothing readable, and never the same twice', async () => {
  const document = Buffer.alloc(1000, 'words ')
  const [[, one], [, other]] = [await rested(document), await rested(document)]
  expect(one.content.includes('word')).toBe(false)
  expect(one.content.equals(other.content)).toBe(false)
  expect(one.content.subarray(0, 16).equals(other.content.subarray(0, 16))).toBe(false)
})

test('it goes to the disk a quarter of a mebibyte at a time', async () => {
  const raw = new MemoryFile()
  const writer = new RestingWriter(raw)
  await writer.write(text.subarray(0, 256 * KIB - 1))
  expect(raw.bytes).toBe(0)
  await writer.write(text.subarray(0, 2))
  expect(raw.bytes).toBe(256 * KIB)
  await writer.finish()
  expect(raw.bytes).toBe(256 * KIB + 1)
})

test('pieces that are given are of at most 64 KiB', async () => {
  const [file] = await rested(text)
  const sizes: number[] = []
  for await (const piece of file.read(5)) sizes.push(piece.length)
  expect(Math.max(...sizes)).toBe(64 * KIB)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(text.length - 5)
})

test.each([
  [0, 0],
  [5, 5],
  [0, 1],
  [15, 17],
  [16, 32],
  [64 * KIB - 1, 64 * KIB + 1],
  [100_000, 400_001],
  [700 * KIB - 1, 700 * KIB],
])('bytes %i to %i can be read alone, again and again', async (start, end) => {
  const [file] = await rested(text)
  for (let time = 0; time < 2; time++) {
    expect((await contentOf(file, start, end)).equals(text.subarray(start, end))).toBe(true)
  }
})

test('bytes that there are not cannot be read', async () => {
  const [file] = await rested(text.subarray(0, 100))
  await expect(contentOf(file, 0, 101)).rejects.toThrow(RangeError)
  await expect(contentOf(file, 100, 101)).rejects.toThrow(RangeError)
  await expect(contentOf(file, -1, 5)).rejects.toThrow(RangeError)
})

test('a file that is shorter than it was is noticed', async () => {
  const [file, raw] = await rested(text.subarray(0, 200 * KIB))
  raw.cut(100 * KIB)
  await expect(contentOf(file)).rejects.toThrow('shorter than it was')
  expect((await contentOf(file, 0, 100 * KIB)).equals(text.subarray(0, 100 * KIB))).toBe(true)
})

test('when it is closed its room is given back', async () => {
  const [file, raw] = await rested(text.subarray(0, 10))
  expect(raw.isClosed).toBe(false)
  await file.close()
  expect(raw.isClosed).toBe(true)
})

const stretch = fc.record({
  gap: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 70 * KIB })),
  bytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 70 * KIB })),
})

test.each(['aes128', 'aes192', 'aes256', 'tripledes'] as const)(
  'a document that lies in stretches under %s is read as if it were in one piece',
  async (algorithm) => {
    const { keyBytes, blockBytes: block, cfb } = CIPHERS[algorithm]
    const key = { algorithm, data: seeded(`key ${algorithm}`, keyBytes) }
    const raw = new MemoryFile()
    await raw.append(createCipheriv(cfb, key.data, Buffer.alloc(block)).update(text))
    await fc.assert(
      fc.asyncProperty(
        fc.array(stretch, { minLength: 1, maxLength: 5 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (stretches, one, other) => {
          const extents = new Extents()
          const parts: Buffer[] = []
          let at = 0
          for (const { gap, bytes } of stretches) {
            extents.add(at + gap, bytes)
            parts.push(text.subarray(at + gap, at + gap + bytes))
            at += gap + bytes
          }
          const document = Buffer.concat(parts)
          const file = new RestingFile(raw, { key, extents, block })
          const [start = 0, end = 0] = [one, other]
            .map((part) => Math.round(part * document.length))
            .toSorted((a, b) => a - b)
          expect(file.bytes).toBe(document.length)
          const read = await contentOf(file, start, end)
          expect(read.equals(document.subarray(start, end))).toBe(true)
        },
      ),
      { numRuns: runs(25) },
    )
  },
)

test('bytes that follow each other are one stretch, and are found by their place', () => {
  const extents = new Extents()
  extents.add(10, 5)
  extents.add(15, 5)
  extents.add(30, 10)
  expect(extents.bytes).toBe(20)
  expect([...extents.between(0, 20, 1000)]).toEqual([
    { position: 10, bytes: 10 },
    { position: 30, bytes: 10 },
  ])
  expect([...extents.between(3, 12, 1000)]).toEqual([
    { position: 13, bytes: 7 },
    { position: 30, bytes: 2 },
  ])
  expect([0, 9, 10, 19].map((offset) => extents.positionOf(offset))).toEqual([10, 19, 30, 39])
})

test('stretches end before the position that is asked for', () => {
  const extents = new Extents()
  extents.add(10, 10)
  extents.add(30, 10)
  expect([...extents.between(0, 20, 15)]).toEqual([{ position: 10, bytes: 5 }])
  expect([...extents.between(0, 20, 30)]).toEqual([{ position: 10, bytes: 10 }])
  expect([...extents.between(0, 20, 10)]).toEqual([])
  expect([...extents.between(5, 20, 31)]).toEqual([
    { position: 15, bytes: 5 },
    { position: 30, bytes: 1 },
  ])
})

test.each([-1, 20, 21])('there is no byte %i of twenty', (offset) => {
  const extents = new Extents()
  extents.add(10, 20)
  expect(() => extents.positionOf(offset)).toThrow(new RangeError('no such byte'))
})

test('in no document there is no byte', () => {
  expect(() => new Extents().positionOf(0)).toThrow(RangeError)
})
