import { createCipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { CfbDecipher } from '../../../src/openpgp/crypto/seipd-stream.ts'
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
  ['no bytes', 0, []],
  ['a byte', 1, []],
  ['a block and a byte', 17, [16]],
  ['exactly one write', 256 * KIB, [1]],
  ['a byte more than a write', 256 * KIB + 1, [256 * KIB]],
  ['several writes', 700 * KIB, [3, 3, 300 * KIB]],
] as const)('a resting document of %s is read back unchanged', async (_, length, ends) => {
  const [file, raw] = await rested(text.subarray(0, length), [...ends])
  expect(file.bytes).toBe(length)
  expect((await contentOf(file)).equals(text.subarray(0, length))).toBe(true)
  expect(file.restingBytes).toBe(length)
  expect(raw.content).toHaveLength(length)
})

test('a resting document is encrypted under a fresh key each time', async () => {
  const document = Buffer.alloc(1000, 'words ')
  const [[, one], [, other]] = [await rested(document), await rested(document)]
  expect(one.content.includes('word')).toBe(false)
  expect(one.content.equals(other.content)).toBe(false)
  expect(one.content.subarray(0, 16).equals(other.content.subarray(0, 16))).toBe(false)
})

test('`RestingWriter` writes 256 KiB at a time', async () => {
  const raw = new MemoryFile()
  const writer = new RestingWriter(raw)
  await writer.write(text.subarray(0, 256 * KIB - 1))
  expect(raw.bytes).toBe(0)
  await writer.write(text.subarray(0, 2))
  expect(raw.bytes).toBe(256 * KIB)
  await writer.finish()
  expect(raw.bytes).toBe(256 * KIB + 1)
})

test('`RestingFile.read` returns pieces of at most 64 KiB', async () => {
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
])('the bytes %i to %i of a resting document are read repeatedly', async (start, end) => {
  const [file] = await rested(text)
  for (let time = 0; time < 2; time++) {
    expect((await contentOf(file, start, end)).equals(text.subarray(start, end))).toBe(true)
  }
})

test('a read beyond a resting document fails with a `RangeError`', async () => {
  const [file] = await rested(text.subarray(0, 100))
  await expect(contentOf(file, 0, 101)).rejects.toThrow(RangeError)
  await expect(contentOf(file, 100, 101)).rejects.toThrow(RangeError)
  await expect(contentOf(file, -1, 5)).rejects.toThrow(RangeError)
})

test('a resting file that was truncated fails to read', async () => {
  const [file, raw] = await rested(text.subarray(0, 200 * KIB))
  raw.cut(100 * KIB)
  await expect(contentOf(file)).rejects.toThrow('shorter than it was')
  expect((await contentOf(file, 0, 100 * KIB)).equals(text.subarray(0, 100 * KIB))).toBe(true)
})

test('`RestingFile.close` closes its spool file', async () => {
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
  'a document in several extents under %s is read as one',
  async (algorithm) => {
    const { keyBytes, blockBytes: block, cfb } = CIPHERS[algorithm]
    const key = { algorithm, data: seeded(`key ${algorithm}`, keyBytes) }
    const decipher = (before?: Uint8Array) => new CfbDecipher(key, before)
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
          const file = new RestingFile(raw, { extents, block, decipher })
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

test('`Extents` merges adjacent stretches and finds positions by offset', () => {
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
