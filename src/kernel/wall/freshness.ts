import { Refusal } from '../../errors.ts'
import type { Time } from '../lookups.ts'

/** What was read so long ago counts as read just now, in ms. */
export const JUST_NOW_MS = 500

/**
 * Whether what is remembered is as any sidecar has learned it, for one decision. A decision that
 * waits for the service goes on with what others have learned meanwhile.
 */
export class Freshness {
  readonly #fresh: () => Promise<void>
  readonly #time: Time
  #atMs = -Infinity

  /** @param fresh brings what is remembered up to what any sidecar has seen (`Store.fresh`) */
  constructor(fresh: () => Promise<void>, time: Time) {
    this.#fresh = fresh
    this.#time = time
  }

  /**
   * Reads what any sidecar has learned, when that was not done just now. Call it where the decision
   * begins, and again after each wait for the service.
   * @throws Refusal `postern_store_unwritable`
   */
  async renew(): Promise<void> {
    const nowMs = this.#time.monotonicMs()
    if (nowMs - this.#atMs < JUST_NOW_MS) return
    await this.#fresh()
    this.#atMs = nowMs
  }

  /**
   * Refuses when it was read too long ago: the process was stopped since, or waited for a connection.
   * @throws Refusal `postern_store_unwritable`
   */
  requireWithin(ms: number): void {
    if (this.#time.monotonicMs() - this.#atMs < ms) return
    throw new Refusal(
      'postern_store_unwritable',
      'it took too long to send it since the store was asked, and nothing was sent',
    )
  }
}
