/** A limit over a sliding window of time. */
export interface WindowRule {
  /** Weight that fits into the window. */
  limit: number
  periodMs: number
}

/** One use, as it is kept. */
export interface Take {
  name: string
  atMs: number
  weight: number
}

/** What counts in one window, oldest first. */
interface Window {
  takes: { n: number; atMs: number; weight: number }[]
  weight: number
}

/**
 * Sliding windows by name. What is refused is not counted, so a counter stands still while a
 * client waits out a 429 (spec, Errors 2).
 */
export class Windows {
  readonly #windows = new Map<string, Window>()
  readonly #kept: Map<number, Take>
  readonly #off: boolean
  #next = 1

  /** @param kept what was used already, by growing numbers */
  constructor(rates: 'spec' | 'off', kept: Map<number, Take>) {
    this.#off = rates === 'off'
    this.#kept = kept
    for (const [n, take] of kept) this.#count(n, take)
  }

  /** Milliseconds until something of any weight fits; 0 when it fits now. */
  waitMs(name: string, rule: WindowRule, nowMs: number): number {
    const window = this.#windows.get(name)
    if (this.#off || window === undefined) return 0
    this.#prune(window, nowMs - rule.periodMs)
    if (window.takes.length === 0) this.#windows.delete(name)
    let { weight } = window
    for (const take of window.takes) {
      if (weight < rule.limit) return 0
      weight -= take.weight
      if (weight < rule.limit) return take.atMs + rule.periodMs - nowMs
    }
    return 0
  }

  /** Counts one use, of weight 1 unless said otherwise. */
  take(name: string, atMs: number, weight = 1): void {
    if (this.#off) return
    const n = this.#next
    this.#kept.set(n, { name, atMs, weight })
    this.#count(n, { name, atMs, weight })
  }

  #count(n: number, { name, atMs, weight }: Take): void {
    const window = this.#windows.get(name) ?? { takes: [], weight: 0 }
    this.#windows.set(name, window)
    window.takes.push({ n, atMs, weight })
    window.weight += weight
    this.#next = n + 1
  }

  /** Lets go of what was used at or before a time. */
  #prune(window: Window, beforeMs: number): void {
    const first = window.takes.findIndex(({ atMs }) => atMs > beforeMs)
    for (const { n, weight } of window.takes.splice(0, first === -1 ? Infinity : first)) {
      window.weight -= weight
      this.#kept.delete(n)
    }
  }
}
