import { expect, test } from 'vitest'
import { ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { FramingError } from '../../../src/openpgp/format/packets.ts'
import { runs } from '../../support/chance.ts'
import { inPieces } from '../../support/memory-room.ts'
import { seeded } from '../../support/openpgp-bytes.ts'
import { fc } from '../../support/property.ts'

const bytes = seeded('byte reader', 100)

/** A reader of these pieces; `hasLeft` is true when the source was ended early. */
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

test('`some` returns views of the arriving pieces, no longer than requested', async () => {
  const { reader } = reading(bytes.subarray(0, 10), Buffer.alloc(0), bytes.subarray(10))
  const first = await reader.some(4)
  expect(first).toEqual(bytes.subarray(0, 4))
  expect(first?.buffer).toBe(bytes.buffer)
  expect(await reader.some()).toEqual(bytes.subarray(4, 10))
  expect(await reader.some(1)).toEqual(bytes.subarray(10, 11))
  expect(await reader.some()).toEqual(bytes.subarray(11))
  expect(await reader.some()).toBeNull()
})

test('`exactly(0)` returns no bytes without reading from the source', async () => {
  const { reader } = reading()
  expect(await reader.exactly(0)).toHaveLength(0)
  const never = new ByteReader({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('was asked')) }),
  })
  expect(await never.exactly(0)).toHaveLength(0)
})

test('`exactly` fails with a `FramingError` when the source ends early', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  await expect(reader.exactly(101)).rejects.toThrow(new FramingError('length'))
})

test('bytes that `peek` returned survive reuse of the memory of their piece', async () => {
  const piece = Buffer.from(bytes)
  const { reader } = reading(piece)
  await reader.peek(10)
  piece.fill(0)
  expect(Buffer.from(await reader.exactly(100))).toEqual(bytes)
})

test('`peek` reads no further piece when enough bytes have arrived', async () => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes)
    throw new Error('more was asked for')
  }
  const reader = new ByteReader(source())
  expect(await reader.peek(100)).toHaveLength(100)
  await expect(reader.peek(101)).rejects.toThrow('more was asked for')
})

test('disposal of a `ByteReader` ends its source', async () => {
  const { reader, source } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  await reader.some(1)
  expect(source.hasLeft).toBe(false)
  await reader[Symbol.asyncDispose]()
  expect(source.hasLeft).toBe(true)
  expect(await reader.some()).toBeNull()
})

test('any sequence of reads returns the bytes of the source in order, with the right lengths and positions', async () => {
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
        if (how !== 'some') expect(taken).toHaveLength(Math.min(count, left.length))
        if (taken === null) expect(left).toHaveLength(0)
        else expect(Buffer.from(taken)).toEqual(left.subarray(0, taken.length))
        expect(reader.position).toBe(how === 'peek' ? at : at + (taken?.length ?? 0))
      }
    }),
    { numRuns: runs(300) },
  )
})
