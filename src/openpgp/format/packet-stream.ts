/** Packet framing (RFC 9580, 4.2) of bytes as they arrive, by the rules of `packets.ts`. */
import { fill, type ByteReader } from './byte-reader.ts'
import {
  FramingError,
  checkChunk,
  isNewFormat,
  newLength,
  newLengthSize,
  oldLength,
  oldLengthSize,
  tagOf,
  type PacketLength,
} from './packets.ts'

/** A packet whose body is being read; all of it, before the next packet is asked for. */
export class StreamedPacket {
  readonly tag: number
  readonly #reader: ByteReader
  /** Of the chunk that is being read; Infinity when it runs to the end. */
  #left: number
  #isLast: boolean
  #chunks = 1

  constructor(reader: ByteReader, tag: number, first: PacketLength) {
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

  /** Fills a place as far as the body goes; gives how many bytes it now holds. */
  async into(place: Uint8Array): Promise<number> {
    return await fill(place, this)
  }

  /** Exactly so many bytes. @throws FramingError when there are fewer, or as `some` does */
  async exactly(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count)
    if ((await this.into(bytes)) < count) throw new FramingError('length')
    return bytes
  }

  /** The whole body. @throws FramingError when it is longer than `max`, or as `some` does */
  async whole(max: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let length = 0
    for (let some = await this.some(); some !== null; some = await this.some()) {
      length += some.length
      if (length > max) throw new FramingError('packet-length')
      pieces.push(Buffer.from(some))
    }
    return Buffer.concat(pieces)
  }

  /** Passes over the rest of the body. */
  async skip(): Promise<void> {
    while ((await this.some()) !== null);
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

async function nextLength(reader: ByteReader): Promise<PacketLength> {
  const bytes = Buffer.from(await reader.exactly(1))
  const more = newLengthSize(bytes[0] ?? 0) - 1
  return newLength(more === 0 ? bytes : Buffer.concat([bytes, await reader.exactly(more)]), 0)
}
