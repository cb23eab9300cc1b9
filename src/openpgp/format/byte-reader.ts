import { FramingError } from './packets.ts'

const NOTHING = new Uint8Array(0)

/**
 * Bytes as they arrive, taken in the portions that whoever reads them needs. What is given without
 * a copy is good until more is asked for: its memory may then be used again.
 */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #piece: Uint8Array = NOTHING
  #position = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** How many bytes were taken so far. */
  get position(): number {
    return this.#position
  }

  /** The next bytes, at least one and at most `max`, without a copy; null at the end. */
  async some(max = Infinity): Promise<Uint8Array | null> {
    if (!(await this.#fill())) return null
    const taken = this.#piece.subarray(0, max)
    this.#piece = this.#piece.subarray(taken.length)
    this.#position += taken.length
    return taken
  }

  /** Fills a place as far as bytes come; gives how many it now holds. */
  async into(place: Uint8Array): Promise<number> {
    return await fill(place, this)
  }

  /** Exactly so many bytes, in one piece. @throws FramingError when there are fewer */
  async exactly(count: number): Promise<Uint8Array> {
    if (this.#piece.length >= count && count > 0) return (await this.some(count)) ?? NOTHING
    const bytes = new Uint8Array(count)
    if ((await this.into(bytes)) < count) throw new FramingError('length')
    return bytes
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

  /** Reads to the end and forgets it. */
  async drain(): Promise<void> {
    while ((await this.some()) !== null);
  }

  /** Ends the source early: what is left of it is not needed. */
  async leave(): Promise<void> {
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

/** Fills a place with what a source gives, as far as it does; gives how many bytes it now holds. */
export async function fill(
  place: Uint8Array,
  source: { some(max: number): Promise<Uint8Array | null> },
): Promise<number> {
  let filled = 0
  while (filled < place.length) {
    const some = await source.some(place.length - filled)
    if (some === null) break
    place.set(some, filled)
    filled += some.length
  }
  return filled
}
