/** Where the bytes of a document lie in something longer: in order, in as few stretches as can be. */
export class Extents {
  /** In the document, and in what holds it. */
  readonly #starts: number[] = []
  readonly #positions: number[] = []
  #bytes = 0
  #end = -1

  /** Of the document. */
  get bytes(): number {
    return this.#bytes
  }

  /** The next bytes of the document lie at this position. */
  add(position: number, bytes: number): void {
    if (position !== this.#end) {
      this.#starts.push(this.#bytes)
      this.#positions.push(position)
    }
    this.#bytes += bytes
    this.#end = position + bytes
  }

  /** Where a byte of the document lies. @throws Error when there is no such byte */
  positionOf(offset: number): number {
    const index = this.#indexOf(offset)
    return (this.#positions[index] ?? 0) + offset - (this.#starts[index] ?? 0)
  }

  /**
   * Stretches of the document from one byte on, up to another, as far as they lie before a
   * position.
   */
  *between(
    start: number,
    end: number,
    before: number,
  ): Generator<{ position: number; bytes: number }> {
    let index = this.#indexOf(start)
    for (let offset = start; offset < end; index++) {
      const position = (this.#positions[index] ?? 0) + offset - (this.#starts[index] ?? 0)
      const stop = Math.min(this.#starts[index + 1] ?? this.#bytes, end)
      const bytes = Math.min(stop - offset, before - position)
      if (bytes <= 0) return
      yield { position, bytes }
      if (bytes < stop - offset) return
      offset = stop
    }
  }

  /** The last stretch that begins at or before a byte of the document. */
  #indexOf(offset: number): number {
    if (offset < 0 || offset >= this.#bytes) throw new RangeError('no such byte')
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
