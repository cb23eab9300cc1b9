/** A map bounded by the size of what is in it; what was not asked for the longest goes first. */
export class RecentMap<V> {
  readonly #max: number
  readonly #entries = new Map<string, { value: V; size: number }>()
  /** The key that comes last. */
  #latest: string | null = null
  #size = 0

  /** @param max size of all entries together */
  constructor(max: number) {
    this.#max = max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (key !== this.#latest) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      this.#latest = key
    }
    return entry.value
  }

  /** Keeps a value of a size, in place of the one under its key. */
  set(key: string, value: V, size: number): void {
    this.#delete(key)
    this.#entries.set(key, { value, size })
    this.#latest = key
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#max) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
