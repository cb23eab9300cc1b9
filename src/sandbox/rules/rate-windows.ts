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

/** The uses that count in one window, oldest first, and the sum of their weights. */
interface RateWindow {
  uses: { n: number; atMs: number; weight: number }[]
  weight: number
}

/**
 * Sliding windows by name. A refused use is not counted, so a client that waits out a 429 is not
 * punished for having asked (spec, Errors 2).
 */
export class RateWindows {
  readonly #windows = new Map<string, RateWindow>()
  readonly #stored: Map<number, RateUse>
  readonly #off: boolean
  #next = 1

  /** @param stored earlier uses, by increasing numbers */
  constructor(rates: 'spec' | 'off', stored: Map<number, RateUse>) {
    this.#off = rates === 'off'
    this.#stored = stored
    for (const [n, take] of stored) this.#count(n, take)
  }

  /** Milliseconds until another use is allowed; 0 when it is allowed now. */
  waitMs(name: string, rule: RateLimit, nowMs: number): number {
    const window = this.#windows.get(name)
    if (this.#off || window === undefined) return 0
    this.#prune(window, nowMs - rule.periodMs)
    if (window.uses.length === 0) this.#windows.delete(name)
    let { weight } = window
    for (const take of window.uses) {
      if (weight < rule.limit) return 0
      weight -= take.weight
      if (weight < rule.limit) return take.atMs + rule.periodMs - nowMs
    }
    return 0
  }

  /** Counts one use, of weight 1 by default. */
  take(name: string, atMs: number, weight = 1): void {
    if (this.#off) return
    const n = this.#next
    this.#stored.set(n, { name, atMs, weight })
    this.#count(n, { name, atMs, weight })
  }

  #count(n: number, { name, atMs, weight }: RateUse): void {
    const window = this.#windows.get(name) ?? { uses: [], weight: 0 }
    this.#windows.set(name, window)
    window.uses.push({ n, atMs, weight })
    window.weight += weight
    this.#next = n + 1
  }

  /** Forgets the uses at or before a time. */
  #prune(window: RateWindow, beforeMs: number): void {
    const first = window.uses.findIndex(({ atMs }) => atMs > beforeMs)
    for (const { n, weight } of window.uses.splice(0, first === -1 ? Infinity : first)) {
      window.weight -= weight
      this.#stored.delete(n)
    }
  }
}
