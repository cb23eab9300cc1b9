/** A map bounded by the size of its entries; those not read recently are evicted first. */
export class RecentMap<V> {
  readonly #max: number
  /** In the order of eviction checks. */
  readonly #entries = new Map<string, { value: V; size: number; isRecent: boolean }>()
  #size = 0

  /** @param max size of all entries together */
  constructor(max: number) {
    this.#max = max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // To put it last at once would cost more than to find it.
    entry.isRecent = true
    return entry.value
  }

  /** Keeps a value of a size, in place of the one under its key. */
  set(key: string, value: V, size: number): void {
    this.#delete(key)
    this.#add(key, { value, size, isRecent: true })
    for (const [first, entry] of this.#entries) {
      if (this.#size <= this.#max) return
      this.#delete(first)
      if (entry.isRecent) this.#add(first, { ...entry, isRecent: false })
    }
  }

  #add(key: string, entry: { value: V; size: number; isRecent: boolean }): void {
    this.#entries.set(key, entry)
    this.#size += entry.size
  }

  #delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
