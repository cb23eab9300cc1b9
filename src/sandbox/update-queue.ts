import type { Update } from '../api/updates.ts'
import { Listeners } from '../util/listeners.ts'
import type { WorldClock } from './clock.ts'
import type { WorldLimits } from './limits.ts'

/** An update, and when it was queued. */
export interface QueuedUpdate {
  update: Update
  atMs: number
}

/** Counts ids. */
export interface IdCounter {
  next: number
}

interface UpdateQueueParts {
  clock: WorldClock
  limits: WorldLimits
  /** The updates that wait already, by position in the queue, oldest first. */
  queued: Map<number, QueuedUpdate>
  ids: IdCounter
  /** Called with each new update. */
  onPush: (update: Update) => void
}

/**
 * A bot's updates: increasing ids; dropped after 72 hours, and the oldest beyond 10 000, unless the
 * limits differ (spec, Events 2).
 */
export class UpdateQueue {
  readonly #parts: UpdateQueueParts
  #nextPosition: number
  readonly #listeners = new Listeners()
  /** Calls back on every `wake` until the returned function is called. */
  readonly onWake = this.#listeners.add
  /** Ends the poll in progress; the poll sets it. */
  endPoll: (() => void) | null = null

  constructor(parts: UpdateQueueParts) {
    this.#parts = parts
    this.#nextPosition = ([...parts.queued.keys()].at(-1) ?? 0) + 1
  }

  /** Queues an update under the next id. Gives the id. */
  push(update: Omit<Update, 'updateId'> & { kind: string }): number {
    const updateId = this.#parts.ids.next
    this.pushRaw({ updateId, ...update })
    return updateId
  }

  /** Queues exactly this update, under any id, as a hostile service might. */
  pushRaw(update: Update): void {
    const { ids, queued, clock } = this.#parts
    ids.next = Math.max(ids.next, update.updateId + 1)
    queued.set(this.#nextPosition++, { update, atMs: clock.now() })
    this.#dropOld()
    this.wake()
    this.#parts.onPush(update)
  }

  /** Deletes every update below `offset` for good. */
  confirm(offset: number): void {
    for (const [position, { update }] of this.#parts.queued) {
      if (update.updateId < offset) this.#parts.queued.delete(position)
    }
  }

  /** The oldest updates, at most `limit`. */
  list(limit: number): Update[] {
    this.#dropOld()
    const oldest = this.#parts.queued.values().take(limit)
    return Array.from(oldest, ({ update }) => update)
  }

  /** How many are waiting. */
  get size(): number {
    this.#dropOld()
    return this.#parts.queued.size
  }

  /** Has every waiting poll or delivery read the queue again. */
  wake(): void {
    this.#listeners.emit()
  }

  #dropOld(): void {
    const { clock, queued, limits } = this.#parts
    const { retentionMs, retentionUpdates } = limits.values
    const oldestMs = clock.now() - retentionMs
    for (const [position, { atMs }] of queued) {
      if (atMs >= oldestMs && queued.size <= retentionUpdates) return
      queued.delete(position)
    }
  }
}
