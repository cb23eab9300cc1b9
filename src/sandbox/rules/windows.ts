/** A limit over a sliding window of time. */
export interface WindowRule {
  /** Weight that fits into the window. */
  limit: number
  periodMs: number
}

interface Entry {
  atMs: number
  weight: number
}

/**
 * Sliding windows by name. What is refused is not counted, so a counter stands still while a
 * client waits out a 429 (spec, Errors 2).
 */
export class Windows {
  readonly #entries = new Map<string, Entry[]>()
  readonly #off: boolean

  constructor(rates: 'spec' | 'off') {
    this.#off = rates === 'off'
  }

  /** Milliseconds until something of any weight fits; 0 when it fits now. */
  waitMs(name: string, rule: WindowRule, nowMs: number): number {
    if (this.#off) return 0
    const entries = this.#prune(name, rule, nowMs)
    let weight = entries.reduce((sum, entry) => sum + entry.weight, 0)
    for (const entry of entries) {
      if (weight < rule.limit) return 0
      weight -= entry.weight
      if (weight < rule.limit) return entry.atMs + rule.periodMs - nowMs
    }
    return 0
  }

  /** Counts one use, of weight 1 unless said otherwise. */
  take(name: string, nowMs: number, weight = 1): void {
    if (this.#off) return
    const entries = this.#entries.get(name)
    if (entries === undefined) this.#entries.set(name, [{ atMs: nowMs, weight }])
    else entries.push({ atMs: nowMs, weight })
  }

  #prune(name: string, rule: WindowRule, nowMs: number): Entry[] {
    const entries = this.#entries.get(name) ?? []
    const first = entries.findIndex((entry) => entry.atMs + rule.periodMs > nowMs)
    entries.splice(0, first === -1 ? entries.length : first)
    if (entries.length === 0) this.#entries.delete(name)
    return entries
  }
}
