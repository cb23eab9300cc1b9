import { Refusal } from '../../errors.ts'
import type { Time } from '../lookups.ts'

/** A reading of the store counts as new for so long, in ms. */
export const JUST_NOW_MS = 500

/**
 * Whether memory is as any sidecar has written it, for one decision. All calls throw Refusal
 * `postern_store_unwritable`.
 */
export class Freshness {
  readonly #fresh: () => Promise<void>
  readonly #time: Time
  #atMs = -Infinity

  /** @param fresh reads what any sidecar has written (`Store.fresh`) */
  constructor(fresh: () => Promise<void>, time: Time) {
    this.#fresh = fresh
    this.#time = time
  }

  /**
   * Reads what any sidecar has written, where the last reading is not new. Call it at the beginning
   * of the decision, and after each wait for the service.
   */
  async renew(): Promise<void> {
    const nowMs = this.#time.monotonicMs()
    if (nowMs - this.#atMs < JUST_NOW_MS) return
    await this.#fresh()
    this.#atMs = nowMs
  }

  /** Refuses after a reading that is too old: the process was stopped, or waited for a connection. */
  requireWithin(ms: number): void {
    if (this.#time.monotonicMs() - this.#atMs < ms) return
    throw new Refusal(
      'postern_store_unwritable',
      'it took too long to send it since the store was asked, and nothing was sent',
    )
  }
}
