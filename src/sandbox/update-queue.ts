import { FIXED_LIMITS } from '../api/limits.ts'
import type { Update } from '../api/updates.ts'
import { Listeners } from '../util/listeners.ts'
import type { WorldClock } from './clock.ts'

/** An update, and when it was queued. */
export interface QueuedUpdate {
  update: Update
  atMs: number
}

/** Counts ids. */
export interface IdCounter {
  next: number
}

/**
 * A bot's updates: increasing ids; dropped after 72 hours, and the oldest beyond 10 000 (spec,
 * Events 2).
 */
export class UpdateQueue {
  readonly #clock: WorldClock
  /** By position in the queue, oldest first. */
  readonly #queued: Map<number, QueuedUpdate>
  readonly #ids: IdCounter
  #nextPosition: number
  readonly #listeners = new Listeners()
  /** Calls back on every `wake` until the returned function is called. */
  readonly onWake = this.#listeners.add
  readonly #onPush: (update: Update) => void
  /** Ends the poll in progress; the poll sets it. */
  endPoll: (() => void) | null = null

  /** @param o `queued` the updates that wait already, by increasing numbers; `onPush` is called with each new one */
  constructor(o: {
    clock: WorldClock
    queued: Map<number, QueuedUpdate>
    ids: IdCounter
    onPush: (update: Update) => void
  }) {
    this.#clock = o.clock
    this.#queued = o.queued
    this.#ids = o.ids
    this.#onPush = o.onPush
    this.#nextPosition = ([...o.queued.keys()].at(-1) ?? 0) + 1
  }

  /** Queues an update under the next id. Gives the id. */
  push(update: Omit<Update, 'updateId'> & { kind: string }): number {
    const updateId = this.#ids.next
    this.pushRaw({ updateId, ...update })
    return updateId
  }

  /** Queues exactly this update, under any id, as a hostile service might. */
  pushRaw(update: Update): void {
    if (update.updateId >= this.#ids.next) this.#ids.next = update.updateId + 1
    this.#queued.set(this.#nextPosition++, { update, atMs: this.#clock.now() })
    this.#dropOld()
    this.wake()
    this.#onPush(update)
  }

  /** Deletes every update below `offset` for good. */
  confirm(offset: number): void {
    for (const [position, { update }] of this.#queued) {
      if (update.updateId < offset) this.#queued.delete(position)
    }
  }

  /** The oldest updates, at most `limit`. */
  list(limit: number): Update[] {
    this.#dropOld()
    const oldest: Update[] = []
    for (const { update } of this.#queued.values()) {
      if (oldest.length >= limit) break
      oldest.push(update)
    }
    return oldest
  }

  /** How many are waiting. */
  get size(): number {
    this.#dropOld()
    return this.#queued.size
  }

  /** Has every waiting poll or delivery read the queue again. */
  wake(): void {
    this.#listeners.emit()
  }

  #dropOld(): void {
    const oldestMs = this.#clock.now() - FIXED_LIMITS.retentionMs
    for (const [position, { atMs }] of this.#queued) {
      const isTooMuch = this.#queued.size > FIXED_LIMITS.retentionUpdates
      if (atMs >= oldestMs && !isTooMuch) return
      this.#queued.delete(position)
    }
  }
}
