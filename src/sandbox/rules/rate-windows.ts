/** A limit over a sliding window of time. */
export interface RateLimit {
  /** Greatest sum of weights in the window. */
  limit: number
  periodMs: number
}

/** One use, as it is stored. */
export interface RateUse {
  name: string
  atMs: number
  weight: number
}

/**
 * Sliding windows by name. A refused use is not counted, so a client that waits out a 429 is not
 * punished for having asked (spec, Errors 2).
 */
export class RateWindows {
  /** Uses by name, each with its number, oldest first. */
  readonly #windows = new Map<string, (RateUse & { n: number })[]>()
  readonly #stored: Map<number, RateUse>
  readonly #off: boolean
  #next = 1

  /** @param stored earlier uses, by increasing numbers */
  constructor(rates: 'spec' | 'off', stored: Map<number, RateUse>) {
    this.#off = rates === 'off'
    this.#stored = stored
    for (const [n, use] of stored) this.#count(n, use)
  }

  /** Milliseconds until another use is allowed; 0 when it is allowed now. */
  waitMs(name: string, { limit, periodMs }: RateLimit, nowMs: number): number {
    const uses = this.#windows.get(name)
    if (this.#off || uses === undefined) return 0
    const first = uses.findIndex(({ atMs }) => atMs > nowMs - periodMs)
    for (const { n } of uses.splice(0, first === -1 ? Infinity : first)) this.#stored.delete(n)
    if (uses.length === 0) this.#windows.delete(name)
    let weight = 0
    for (const use of uses.toReversed()) {
      weight += use.weight
      if (weight >= limit) return use.atMs + periodMs - nowMs
    }
    return 0
  }

  /** Counts one use, of weight 1 by default. */
  take(name: string, atMs: number, weight = 1): void {
    if (this.#off) return
    const use = { name, atMs, weight }
    this.#stored.set(this.#next, use)
    this.#count(this.#next, use)
  }

  #count(n: number, use: RateUse): void {
    const uses = this.#windows.get(use.name) ?? []
    this.#windows.set(use.name, uses)
    uses.push({ n, ...use })
    this.#next = n + 1
  }
}
