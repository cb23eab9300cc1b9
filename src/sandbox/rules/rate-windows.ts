/** One use, as it is stored. */
export interface RateUse {
  name: string
  atMs: number
  weight: number
}

/** The longest period of a limit. */
export const MINUTE_MS = 60_000

/**
 * Sliding windows by name. A refused use is not counted, so a client that waits out a 429 is not
 * punished for having asked (spec, Errors 2).
 */
export class RateWindows {
  readonly #uses: Map<number, RateUse>
  readonly #off: boolean
  readonly #now: () => number
  #next: number

  /** @param stored earlier uses, by increasing numbers. @param now ms since 1970 */
  constructor(rates: 'spec' | 'off', stored: Map<number, RateUse>, now: () => number) {
    this.#now = now
    this.#off = rates === 'off'
    this.#uses = stored
    this.#next = ([...stored.keys()].at(-1) ?? 0) + 1
  }

  /**
   * Milliseconds until another use is allowed; 0 when it is allowed now.
   * @param limit the greatest sum of weights in a period
   */
  waitMs(name: string, limit: number, periodMs: number): number {
    const nowMs = this.#now()
    let weight = 0
    for (const [n, use] of [...this.#uses].toReversed()) {
      if (use.atMs <= nowMs - MINUTE_MS) this.#uses.delete(n)
      if (use.name !== name || use.atMs <= nowMs - periodMs) continue
      weight += use.weight
      if (weight >= limit) return use.atMs + periodMs - nowMs
    }
    return 0
  }

  /** Counts one use, of weight 1 by default. */
  take(name: string, weight = 1): void {
    if (!this.#off) this.#uses.set(this.#next++, { name, atMs: this.#now(), weight })
  }
}
