/** Packet framing (RFC 9580, 4.2) of bytes as they arrive; the rules are those of `packetsOf`. */
import { FramingError, TAG, takesPartial } from './packets.ts'
import { BOUNDS } from '../bounds.ts'
import { fill, type OctetReader } from './byte-reader.ts'

/** A length as it stands in a header: of the packet, or of a chunk that others follow. */
interface Length {
  bytes: number
  partial: boolean
}

/** A packet whose body is being read; all of it, before the next packet is asked for. */
export class StreamedPacket {
  readonly tag: number
  readonly #reader: OctetReader
  /** Of the chunk that is being read; Infinity when it runs to the end. */
  #left: number
  #isLast: boolean
  #chunks = 1

  constructor(reader: OctetReader, tag: number, first: Length) {
    this.tag = tag
    this.#reader = reader
    this.#left = first.bytes
    this.#isLast = !first.partial
    if (first.partial) this.#check(first)
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
    const length = await newLength(this.#reader)
    this.#chunks++
    this.#check(length)
    this.#left = length.bytes
    this.#isLast = !length.partial
  }

  #check({ bytes, partial }: Length): void {
    if (partial && bytes < BOUNDS.partialChunkMin) throw new FramingError('partial-length')
    if (partial && !takesPartial(this.tag)) throw new FramingError('partial-tag')
    if (this.#chunks > BOUNDS.partialChunks) throw new FramingError('partial-count')
  }
}

/** Reads the header of the next packet; null at the end. @throws FramingError for a bad one */
export async function nextPacket(reader: OctetReader): Promise<StreamedPacket | null> {
  const some = await reader.some(1)
  if (some === null) return null
  const first = some[0] ?? 0
  if ((first & 0x80) === 0) throw new FramingError('header')
  if ((first & 0x40) !== 0) {
    return new StreamedPacket(reader, first & 0x3f, await newLength(reader))
  }
  const tag = (first >> 2) & 0x0f
  return new StreamedPacket(reader, tag, {
    bytes: await oldLength(reader, tag, first & 3),
    partial: false,
  })
}

/** RFC 9580, 4.2.2; the indeterminate length is for data packets alone. */
async function oldLength(reader: OctetReader, tag: number, type: number): Promise<number> {
  if (type < 3) return number(await reader.exactly(1 << type))
  if (tag !== TAG.compressed && tag !== TAG.literal) throw new FramingError('indeterminate')
  return Infinity
}

/** RFC 9580, 4.2.1. */
async function newLength(reader: OctetReader): Promise<Length> {
  const [first = 0] = await reader.exactly(1)
  if (first < 192) return { bytes: first, partial: false }
  if (first === 255) return { bytes: number(await reader.exactly(4)), partial: false }
  if (first >= 224) return { bytes: 2 ** (first & 0x1f), partial: true }
  const [second = 0] = await reader.exactly(1)
  return { bytes: ((first - 192) << 8) + second + 192, partial: false }
}

const number = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0)
