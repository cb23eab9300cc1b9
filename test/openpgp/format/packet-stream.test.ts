import { expect, test } from 'vitest'
import { nextPacket, ByteReader } from '../../../src/openpgp/format/packet-stream.ts'
import { FramingError, packetsOf } from '../../../src/openpgp/format/packets.ts'
import { readerOf, inPieces } from '../../support/memory-room.ts'
import { longPacket, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { runs } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'

interface Read {
  packets: { tag: number; body: Buffer }[]
  error: string | null
}

/** The packets before an error, and the error. */
function atOnce(bytes: Uint8Array): Read {
  const packets: Read['packets'] = []
  try {
    for (const { tag, body } of packetsOf(bytes)) packets.push({ tag, body: Buffer.from(body) })
    return { packets, error: null }
  } catch (error) {
    return { packets, error: (error as Error).message }
  }
}

async function asItArrives(bytes: Uint8Array, size: number): Promise<Read> {
  const reader = readerOf(bytes, size)
  const packets: Read['packets'] = []
  try {
    for (let one = await nextPacket(reader); one !== null; one = await nextPacket(reader)) {
      packets.push({ tag: one.tag, body: Buffer.from(await one.whole(Infinity)) })
    }
    return { packets, error: null }
  } catch (error) {
    expect(error).toBeInstanceOf(FramingError)
    return { packets, error: (error as Error).message }
  }
}

const body = seeded('body', 3000)
const small = seeded('small', 100)

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['a new header of one byte', packet(1, small)],
  ['a new header of two bytes', packet(11, body)],
  ['a new header of five bytes', longPacket(18, small)],
  ['an empty body', packet(1, Buffer.alloc(0))],
  [
    'old headers of one, two and four bytes',
    concat(...([1, 2, 4] as const).map((n) => oldPacket(11, small, n))),
  ],
  ['an old header without a length', oldPacket(8, body, 0)],
  ['an old header without a length on a PKESK packet', oldPacket(1, small, 0)],
  ['partial chunks', partialPacket(18, body, [9, 10, 9])],
  ['partial chunks with nothing at the end', partialPacket(11, body.subarray(0, 1024), [9, 9])],
  ['a first chunk that is too small', partialPacket(18, body, [8, 9])],
  ['a small chunk after a large one', partialPacket(18, body, [9, 0])],
  ['partial chunks of a PKESK packet', partialPacket(1, body, [9])],
  ['no header', concat('00', small)],
  ['several packets', concat(packet(1, small), partialPacket(18, body, [9]), packet(2, small))],
])('a stream of %s yields the packets and the error of `packetsOf`', async (_, bytes) => {
  for (const size of [1, 2, 7, 512, 100_000]) {
    expect(await asItArrives(bytes, size)).toEqual(atOnce(bytes))
  }
})

test('a truncated stream of packets yields the packets and the error of `packetsOf`', async () => {
  const bytes = concat(packet(1, small), partialPacket(18, body, [9, 9]), oldPacket(11, small, 2))
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length)
    expect(await asItArrives(cut, 300), `length ${length}`).toEqual(atOnce(cut))
  }
})

test('a stream of random bytes yields the packets and the error of `packetsOf`', async () => {
  const headers = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 12 })
  const noise = fc.uint8Array({ maxLength: 1200 })
  await fc.assert(
    fc.asyncProperty(
      headers,
      noise,
      fc.integer({ min: 1, max: 700 }),
      async (start, rest, size) => {
        const bytes = concat(...start, rest)
        const [now, later] = [atOnce(bytes), await asItArrives(bytes, size)]
        expect(later).toEqual(now)
      },
    ),
    { numRuns: runs(700) },
  )
})

test('`StreamedPacket.whole` rejects a packet body above its limit as `packet-length`', async () => {
  const packetOf = async (bytes: Uint8Array) => {
    const found = await nextPacket(readerOf(bytes, 64))
    if (found === null) throw new Error('no packet')
    return found
  }
  await expect((await packetOf(packet(1, body))).whole(2999)).rejects.toThrow('packet-length')
  expect(await (await packetOf(packet(1, body))).whole(3000)).toEqual(body)
})

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

test('`ByteReader.some` returns views of the arriving pieces, no longer than requested', async () => {
  const { reader } = reading(bytes.subarray(0, 10), Buffer.alloc(0), bytes.subarray(10))
  const first = await reader.some(4)
  expect(first).toEqual(bytes.subarray(0, 4))
  expect(first?.buffer).toBe(bytes.buffer)
  expect(await reader.some()).toEqual(bytes.subarray(4, 10))
  expect(await reader.some(1)).toEqual(bytes.subarray(10, 11))
  expect(await reader.some()).toEqual(bytes.subarray(11))
  expect(await reader.some()).toBeNull()
})

test('`ByteReader.exactly(0)` returns no bytes without reading from the source', async () => {
  const { reader } = reading()
  expect(await reader.exactly(0)).toHaveLength(0)
  const never = new ByteReader({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('was asked')) }),
  })
  expect(await never.exactly(0)).toHaveLength(0)
})

test('`ByteReader.exactly` fails with a `FramingError` when the source ends early', async () => {
  const { reader } = reading(bytes.subarray(0, 10), bytes.subarray(10))
  await expect(reader.exactly(101)).rejects.toThrow(new FramingError('length'))
})

test('bytes from `ByteReader.peek` survive reuse of the memory of their piece', async () => {
  const piece = Buffer.from(bytes)
  const { reader } = reading(piece)
  await reader.peek(10)
  piece.fill(0)
  expect(Buffer.from(await reader.exactly(100))).toEqual(bytes)
})

test('`ByteReader.peek` reads no further piece when enough bytes have arrived', async () => {
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

test('any sequence of `ByteReader` calls returns the bytes of the source in order and in the right lengths', async () => {
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
