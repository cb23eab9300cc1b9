/** How long an entry counts, by which clock. */
export interface Expiry {
  ttlMs: number
  nowMs: () => number
}

/**
 * A map of at most so many entries: the one that was set longest ago goes first. Setting an entry
 * again renews it.
 * @param expiry entries count for good when absent
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, { value: V; setAtMs: number }>()
  readonly #maxEntries: number
  readonly #expiry: Expiry

  constructor(maxEntries: number, expiry: Expiry = { ttlMs: Infinity, nowMs: () => 0 }) {
    this.#maxEntries = maxEntries
    this.#expiry = expiry
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { ttlMs, nowMs } = this.#expiry
    if (nowMs() - entry.setAtMs < ttlMs) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, setAtMs: this.#expiry.nowMs() })
    if (this.#entries.size <= this.#maxEntries) return
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
