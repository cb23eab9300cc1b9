/** The update that is left at the service, from its first poll until it is answered. */
import { monotonicNow } from '../util/clock.ts'
import type { TransientError } from '../kernel/opening/verdict.ts'

/** Why an update is left at the service: `ours`, Postern itself could not record or open it. */
export type LeavingReason = TransientError | 'ours'

/** An update at which an answer ended, because what decides on it could not be had. */
export interface LeftAt {
  updateId: number
  /** Null where its Messages do not agree. */
  chatId: number | null
  why: LeavingReason
}

/** `left` again with each poll, `isFirst` with the first one; `came` with its verdict. */
export type LeavingEvent =
  ({ kind: 'left'; isFirst: boolean } & LeftAt) | ({ kind: 'came'; waitedMs: number } & LeftAt)

/** Remembers one update: all behind it are left with it. */
export class LeftUpdate {
  #left: (LeftAt & { sinceMs: number }) | null = null

  /**
   * Takes in how a poll ended.
   * @param answered the updates that it gave, by id
   * @param left the one that it ended at; null where none was left
   */
  record(answered: readonly number[], left: LeftAt | null): LeavingEvent[] {
    const events: LeavingEvent[] = []
    if (this.#left !== null && answered.includes(this.#left.updateId)) {
      const { sinceMs, ...at } = this.#left
      events.push({ kind: 'came', waitedMs: monotonicNow() - sinceMs, ...at })
      this.#left = null
    }
    if (left === null) return events
    const isFirst = this.#left?.updateId !== left.updateId
    if (isFirst) this.#left = { ...left, sinceMs: monotonicNow() }
    return [...events, { kind: 'left', isFirst, ...left }]
  }
}
