import { expect, test } from 'vitest'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'
import { runs } from '../../support/chance.ts'
import { inPieces } from '../../support/memory-room.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { fc } from '../../support/property.ts'

const bytes = seeded('byte reader', 100)

/** A reader of these pieces; `hasLeft` says whether the source was ended early. */
function reading(...pieces: Uint8Array[]): { reader: ByteReader; source: { hasLeft: boolean } } {
  const source = { hasLeft: false }
  async function* give(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) yield await Promise.resolve(piece)
      source.hasLeft = false
      return
    } finally {
      source.hasLeft = true
    }
  }
  return { reader: new ByteReader(give()), source }
}

test('bytes are given as they come, without a copy, and no more than was asked for', async () => {
  const { reader } = reading(bytes.subarray(0, 10), Buffer.alloc(0), bytes.subarray(10))
  const first = await reader.some(4)
  expect(first).toEqual(bytes.subarray(0, 4))
  expect(first?.buffer).toBe(bytes.buffer)
  expect(await reader.some()).toEqual(bytes.subarray(4, 10))
  expect(await reader.some(1)).toEqual(bytes.subarray(10, 11))
  expect(await reader.some()).toEqual(bytes.subarray(11))
  expect(await reader.some()).toBeNull()
})

test('the position is the number of bytes that were taken', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  expect(reader.position).toBe(0)
  await reader.some(3)
  await reader.peek(50)
  expect(reader.position).toBe(3)
  await reader.exactly(20)
  expect(reader.position).toBe(23)
  await reader.into(new Uint8Array(7))
  expect(reader.position).toBe(30)
})

test('what is drained is gone to the last piece', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10, 20), bytes.subarray(20))
  await reader.drain()
  expect(reader.position).toBe(100)
  expect(await reader.some()).toBeNull()
})

test.each([1, 10, 11, 100])('exactly %i bytes are one piece, wherever they lie', async (count) => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  expect(Buffer.from(await reader.exactly(count))).toEqual(bytes.subarray(0, count))
  expect(reader.position).toBe(count)
})

test('what is at hand in one piece is not copied', async () => {
  const { reader } = reading(bytes)
  expect(await reader.some(1)).toHaveLength(1)
  expect((await reader.exactly(2)).buffer).toBe(bytes.buffer)
  expect((await reader.exactly(97)).buffer).toBe(bytes.buffer)
})

test('no bytes are there without waiting for any', async () => {
  const { reader } = reading()
  expect(await reader.exactly(0)).toHaveLength(0)
  const never = new ByteReader({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('was asked')) }),
  })
  expect(await never.exactly(0)).toHaveLength(0)
})

test('fewer than exactly so many are refused', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  await expect(reader.exactly(101)).rejects.toThrow(new FramingError('length'))
})

test('a place is filled as far as there are bytes', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10, 20))
  const place = new Uint8Array(15)
  expect(await reader.into(place)).toBe(15)
  expect(Buffer.from(place)).toEqual(bytes.subarray(0, 15))
  expect(await reader.into(place)).toBe(5)
  expect(Buffer.from(place.subarray(0, 6))).toEqual(
    Buffer.concat([bytes.subarray(15, 20), bytes.subarray(5, 6)]),
  )
  expect(await reader.into(place)).toBe(0)
})

test('what was looked at is still there, in one piece', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10, 20), bytes.subarray(20))
  expect(Buffer.from(await reader.peek(5))).toEqual(bytes.subarray(0, 5))
  expect(Buffer.from(await reader.peek(15))).toEqual(bytes.subarray(0, 15))
  expect(await reader.some(3)).toEqual(bytes.subarray(0, 3))
  expect(Buffer.from(await reader.peek(17))).toEqual(bytes.subarray(3, 20))
  expect(Buffer.from(await reader.exactly(97))).toEqual(bytes.subarray(3))
  expect(await reader.peek(1)).toHaveLength(0)
})

test('what was looked at stays as it was when the memory of its piece is used again', async () => {
  const piece = Buffer.from(bytes)
  const { reader } = reading(piece)
  await reader.peek(10)
  piece.fill(0)
  expect(Buffer.from(await reader.exactly(100))).toEqual(bytes)
})

test('looking stops as soon as there is enough', async () => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes)
    throw new Error('more was asked for')
  }
  const reader = new ByteReader(source())
  expect(await reader.peek(100)).toHaveLength(100)
  await expect(reader.peek(101)).rejects.toThrow('more was asked for')
})

test('at the end of the bytes looking gives what there is', async () => {
  const { reader } = reading(bytes.subarray(0, 10))
  expect(await reader.peek(11)).toHaveLength(10)
  expect(await reader.some()).toHaveLength(10)
})

test('a source that is left is ended, and gives nothing more', async () => {
  const { reader, source } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  await reader.some(1)
  expect(source.hasLeft).toBe(false)
  await reader[Symbol.asyncDispose]()
  expect(source.hasLeft).toBe(true)
  expect(await reader.some()).toBeNull()
})

test('a source that cannot be ended is left all the same', async () => {
  const reader = new ByteReader({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false as const, value: bytes }),
    }),
  })
  await reader.some(1)
  await reader[Symbol.asyncDispose]()
  expect(await reader.some()).toHaveLength(100)
})

test('however it comes and is taken, it is the same bytes in the same order', async () => {
  const step = fc.record({
    how: fc.constantFrom('some', 'exactly', 'peek', 'into'),
    count: fc.integer({ min: 1, max: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(step), async (size, steps) => {
      const reader = new ByteReader(inPieces(bytes, size))
      for (const { how, count } of steps) {
        const at = reader.position
        const left = bytes.subarray(at)
        if (how === 'exactly' && left.length < count) break
        if (how === 'into') {
          const place = new Uint8Array(count)
          const filled = await reader.into(place)
          expect(filled).toBe(Math.min(count, left.length))
          expect(Buffer.from(place.subarray(0, filled))).toEqual(left.subarray(0, filled))
          continue
        }
        const taken = await reader[how as 'some'](count)
        if (taken === null) expect(left).toHaveLength(0)
        else expect(Buffer.from(taken)).toEqual(left.subarray(0, taken.length))
        expect(reader.position).toBe(how === 'peek' ? at : at + (taken?.length ?? 0))
      }
    }),
    { numRuns: runs(300) },
  )
})
