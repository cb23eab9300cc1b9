import type { Clock } from '../util/clock.ts'

/** It does not slow a conversation down, and a flood waits in the service's queue, not in ours. */
const BURST = 20

/**
 * Spreads the calls of one loop over time: a burst at once, then so many a minute. Updates that
 * arrive faster are read in larger batches.
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #perMinute: () => number
  #left = BURST
  #atMs: number

  /** @param perMinute asked afresh each time; anything below 1 counts as 1 */
  constructor(clock: Clock, perMinute: () => number) {
    this.#clock = clock
    this.#perMinute = perMinute
    this.#atMs = clock.monotonicNow()
  }

  /** Resolves when the next call may be made, or the signal is aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    this.#refill()
    if (this.#left < 1) await this.#clock.wait((1 - this.#left) / this.#perMs, signal)
    this.#refill()
    this.#left -= 1
  }

  get #perMs(): number {
    return Math.max(this.#perMinute(), 1) / 60_000
  }

  #refill(): void {
    const now = this.#clock.monotonicNow()
    this.#left = Math.min(BURST, this.#left + (now - this.#atMs) * this.#perMs)
    this.#atMs = now
  }
}
