/** Bytes as they arrive, and the packets in them (RFC 9580, 4.2), by the rules of `packets.ts`. */
import {
  FramingError,
  checkChunk,
  isIgnorable,
  isNewFormat,
  newLength,
  newLengthSize,
  oldLength,
  oldLengthSize,
  tagOf,
} from './packets.ts'
import type { ReadError, PacketLength } from './packets.ts'

const NOTHING = new Uint8Array(0)

/** Bytes that arrive in pieces, read in portions of any size. */
abstract class Arriving {
  /** The next bytes, at least one and at most `max`, without a copy; null at the end. */
  abstract some(max?: number): Promise<Uint8Array | null>

  /** Fills a buffer until it is full or the bytes end; gives how many bytes it holds. */
  async into(place: Uint8Array): Promise<number> {
    let filled = 0
    while (filled < place.length) {
      const some = await this.some(place.length - filled)
      if (some === null) break
      place.set(some, filled)
      filled += some.length
    }
    return filled
  }

  /** Exactly so many bytes, in one piece. @throws FramingError when there are fewer, or as `some` */
  async exactly(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count)
    if ((await this.into(bytes)) < count) throw new FramingError('length')
    return bytes
  }

  /** Reads to the end and forgets it. */
  async drain(): Promise<void> {
    while ((await this.some()) !== null);
  }
}

/**
 * Reads bytes as they arrive, in portions of any size. A portion that is not copied is valid until
 * the next call, which may reuse its memory.
 */
export class ByteReader extends Arriving implements AsyncDisposable {
  readonly #source: AsyncIterator<Uint8Array>
  #piece: Uint8Array = NOTHING
  /** How many bytes were read so far. */
  position = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    super()
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, at least one and at most `max`, without a copy; null at the end. */
  async some(max = Infinity): Promise<Uint8Array | null> {
    if (!(await this.#fill())) return null
    const taken = this.#piece.subarray(0, max)
    this.#piece = this.#piece.subarray(taken.length)
    this.position += taken.length
    return taken
  }

  /** Without a copy where they are there in one piece. */
  override async exactly(count: number): Promise<Uint8Array> {
    if (this.#piece.length >= count && count > 0) return (await this.some(count)) ?? NOTHING
    return await super.exactly(count)
  }

  /** The next bytes without taking them; fewer than `count` only where there are no more. */
  async peek(count: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let length = 0
    for (;;) {
      if (this.#piece.length > 0) pieces.push(Buffer.from(this.#piece))
      length += this.#piece.length
      this.#piece = NOTHING
      if (length >= count || !(await this.#fill())) break
    }
    this.#piece = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
    return this.#piece.subarray(0, count)
  }

  /** Ends the source early, and drops its remaining bytes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#piece = NOTHING
    await this.#source.return?.()
  }

  async #fill(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const next = await this.#source.next()
      if (next.done === true) return false
      this.#piece = next.value
    }
    return true
  }
}

/** A packet whose body is being read; all of it, before the next packet is asked for. */
export class StreamedPacket extends Arriving {
  readonly tag: number
  readonly #reader: ByteReader
  /** Of the chunk that is being read; Infinity when it runs to the end. */
  #left: number
  #isLast: boolean
  #chunks = 1

  constructor(reader: ByteReader, tag: number, first: PacketLength) {
    super()
    this.tag = tag
    this.#reader = reader
    this.#left = first.bytes
    this.#isLast = !first.partial
    if (first.partial) checkChunk(tag, first, this.#chunks)
  }

  /**
   * The next bytes of the body, without a copy; null at its end.
   * @throws FramingError when it ends too early or its chunks are outside the bounds
   */
  async some(max = Infinity): Promise<Uint8Array | null> {
    while (this.#left === 0) {
      if (this.#isLast) return null
      await this.#nextChunk()
    }
    const some = await this.#reader.some(Math.min(max, this.#left))
    if (some === null) {
      if (this.#left !== Infinity) throw new FramingError('length')
      this.#left = 0
      return null
    }
    this.#left -= some.length
    return some
  }

  /** The whole body. @throws `tooLong` when it is longer than `max`, or as `some` does */
  async whole(max: number, tooLong?: ReadError): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let length = 0
    for (let some = await this.some(); some !== null; some = await this.some()) {
      length += some.length
      if (length > max) throw tooLong ?? new FramingError('packet-length')
      pieces.push(Buffer.from(some))
    }
    return Buffer.concat(pieces)
  }

  async #nextChunk(): Promise<void> {
    const length = await nextLength(this.#reader)
    checkChunk(this.tag, length, ++this.#chunks)
    this.#left = length.bytes
    this.#isLast = !length.partial
  }
}

/** Reads the header of the next packet; null at the end. @throws FramingError for a bad one */
export async function nextPacket(reader: ByteReader): Promise<StreamedPacket | null> {
  const some = await reader.some(1)
  if (some === null) return null
  const header = some[0] ?? 0
  const tag = tagOf(header)
  const length = isNewFormat(header)
    ? await nextLength(reader)
    : oldLength(header, await reader.exactly(oldLengthSize(header)), 0)
  return new StreamedPacket(reader, tag, length)
}

/** The same for the next packet that may not be passed over. @throws FramingError as it does */
export async function nextSignificant(reader: ByteReader): Promise<StreamedPacket | null> {
  for (;;) {
    const packet = await nextPacket(reader)
    if (packet === null || !isIgnorable(packet.tag)) return packet
    await packet.drain()
  }
}

async function nextLength(reader: ByteReader): Promise<PacketLength> {
  const bytes = Buffer.from(await reader.exactly(1))
  const more = newLengthSize(bytes[0] ?? 0) - 1
  return newLength(more === 0 ? bytes : Buffer.concat([bytes, await reader.exactly(more)]), 0)
}
