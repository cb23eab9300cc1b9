import { SYSTEM_TIME, wallClockSetMs } from '../util/clock.ts'

export const SKEW_MAX_MS = 120_000

/** How far our clock is from the service's, by the answers that have a date. */
export class ClockSkew {
  readonly #time: { nowMs(): number }
  #measured: { ms: number; setMs: number } | null = null
  /** The service's clock was moved, not ours. */
  #isTheirs = false

  /** @param time ours, which may be another than the machine's */
  constructor(time: { nowMs(): number } = SYSTEM_TIME) {
    this.#time = time
  }

  /** Our clock minus the service's, in ms, as ours is set now; null before the first dated answer. */
  get ms(): number | null {
    if (this.#measured === null) return null
    const { ms, setMs } = this.#measured
    return Math.round(ms + wallClockSetMs() - setMs)
  }

  /**
   * Records an answer.
   * @param machineMs how far this machine's clock is ahead of the service's
   * @returns the difference in words; null where it is small enough
   */
  record(machineMs: number): string | null {
    const before = this.ms
    const ms = machineMs + this.#time.nowMs() - Date.now()
    this.#measured = { ms, setMs: wallClockSetMs() }
    if (Math.abs(ms) <= SKEW_MAX_MS) this.#isTheirs = false
    // a change of our own clock is in `before`
    else if (before !== null && Math.abs(before) <= SKEW_MAX_MS) this.#isTheirs = true
    if (Math.abs(ms) <= SKEW_MAX_MS) return null
    const seconds = `${Math.round(Math.abs(ms) / 1000)} s`
    const where = ms > 0 ? 'back' : 'ahead'
    return this.#isTheirs ? `the service’s clock was moved ${where} by ${seconds}` : seconds
  }
}
