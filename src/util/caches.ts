import { LRUCache } from 'lru-cache'
import { monotonicNow } from './clock.ts'

/**
 * A cache of at most `maxEntries`, which allocates as it fills. The library's `max` allocates for
 * all entries from the beginning: megabytes for an idle bot.
 * @param o `ttlMs` lifetime of an entry; unlimited when absent
 */
export const countedCache = <K extends {}, V extends {}>(maxEntries: number, { ttlMs = 0 } = {}) =>
  new LRUCache<K, V>({ maxSize: maxEntries, sizeCalculation: () => 1, ttl: ttlMs })

/**
 * A cache that is bounded by the library's options and by a number of entries, for which it allocates
 * as it fills too: the least recently used one goes first.
 */
export class BoundedCache<K extends {}, V extends {}> extends LRUCache<K, V> {
  readonly #maxEntries: number

  constructor(maxEntries: number, options: LRUCache.OptionsSizeLimit<K, V, unknown>) {
    super(options)
    this.#maxEntries = maxEntries
  }

  override set(...entry: Parameters<LRUCache<K, V>['set']>): this {
    super.set(...entry)
    if (this.size > this.#maxEntries) this.pop()
    return this
  }
}

/**
 * A cache whose entries have at most `maxSize` together; each is set with its size, of at least 1. One
 * that is larger than that is not kept.
 * @param more the library's own
 */
export const sizedCache = <V extends {}>(
  maxSize: number,
  more: Omit<LRUCache.OptionsSizeLimit<string, V, unknown>, 'maxSize'> = {},
): LRUCache<string, V> => new LRUCache<string, V>({ ...more, maxSize })

/** How often an answer was cached, and how often it was fetched. */
export interface Lookups {
  hits: number
  misses: number
}

interface Entry<V> {
  value: V
  askedAtMs: number
}

/**
 * Answers of the service by key, with the time when they were asked for. Each key has one fetch in
 * flight, which all callers share. An answer asked for earlier never replaces one asked for later.
 * A failed fetch rejects for its callers and is not remembered.
 */
export class FreshCache<V extends {}> {
  readonly #entries: LRUCache<number, Entry<V>>
  readonly #inFlight = new Map<number, { askedAtMs: number; answer: Promise<V> }>()
  readonly #fetch: (key: number) => Promise<V>
  /** Hits and misses of `get` since the beginning; an answer already under way is a hit. */
  readonly lookups: Lookups = { hits: 0, misses: 0 }

  /**
   * @param options `max` answers are kept, of `maxBytes` together where `bytesOf` gives the size of
   *   one; the least recently used are evicted first
   */
  constructor(options: {
    max: number
    fetch: (key: number) => Promise<V>
    bounds?: { maxBytes: number; bytesOf: (value: V) => number }
  }) {
    const { max, bounds = { maxBytes: max, bytesOf: () => 1 } } = options
    this.#entries = new BoundedCache(max, {
      maxSize: bounds.maxBytes,
      sizeCalculation: ({ value }) => Math.max(1, Math.ceil(bounds.bytesOf(value))),
    })
    this.#fetch = options.fetch
  }

  /**
   * The cached answer, if requested at `sinceMs` (by `monotonicNow`) or later; no call is made.
   */
  peek(key: number, sinceMs: number): V | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.askedAtMs >= sinceMs ? entry.value : undefined
  }

  /** An answer that was asked for at `sinceMs` (by `monotonicNow`) or later; fetched if need be. */
  async get(key: number, sinceMs: number): Promise<V> {
    const kept = this.peek(key, sinceMs)
    const flight = this.#inFlight.get(key)
    const isUnderWay = flight !== undefined && flight.askedAtMs >= sinceMs
    this.lookups[kept !== undefined || isUnderWay ? 'hits' : 'misses']++
    if (kept !== undefined) return kept
    return isUnderWay ? await flight.answer : await this.#ask(key)
  }

  /** Adds an answer from another source. */
  set(key: number, value: V, askedAtMs: number): void {
    const kept = this.#entries.peek(key)
    if (kept !== undefined && kept.askedAtMs > askedAtMs) return
    this.#entries.set(key, { value, askedAtMs })
  }

  forget(key: number): void {
    this.#entries.delete(key)
    this.#inFlight.delete(key)
  }

  /** Forgets everything, answers in flight too. */
  clear(): void {
    this.#entries.clear()
    this.#inFlight.clear()
  }

  async #ask(key: number): Promise<V> {
    const askedAtMs = monotonicNow()
    const answer = this.#fetch(key)
    const flight = { askedAtMs, answer }
    this.#inFlight.set(key, flight)
    try {
      const value = await answer
      if (this.#inFlight.get(key) === flight) this.set(key, value, askedAtMs)
      return value
    } finally {
      if (this.#inFlight.get(key) === flight) this.#inFlight.delete(key)
    }
  }
}
