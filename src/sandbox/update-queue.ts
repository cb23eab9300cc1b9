import { FIXED_LIMITS } from '../api/limits.ts'
import type { Update } from '../api/update.ts'
import type { WorldClock } from './clock.ts'

/** An update that waits, and since when. */
export interface QueuedUpdate {
  update: Update
  atMs: number
}

/** The next of growing ids. */
export interface IdCounter {
  next: number
}

/** A bot's queue: growing ids, 72 hours, 10 000 unread, the oldest go first (spec, Events 2). */
export class UpdateQueue {
  readonly #clock: WorldClock
  /** By place in the queue, oldest first. */
  readonly #queued: Map<number, QueuedUpdate>
  readonly #ids: IdCounter
  #nextPlace: number
  readonly #wakers = new Set<() => void>()
  /** Ends the poll in progress; set by whoever polls. */
  endPoll: (() => void) | null = null

  /** @param queued what waits already, by growing numbers */
  constructor(clock: WorldClock, queued: Map<number, QueuedUpdate>, ids: IdCounter) {
    this.#clock = clock
    this.#queued = queued
    this.#ids = ids
    this.#nextPlace = ([...queued.keys()].at(-1) ?? 0) + 1
  }

  /** Queues an update under the next id, which it gives. */
  push(update: Omit<Update, 'updateId'> & { kind: string }): number {
    const updateId = this.#ids.next
    this.pushRaw({ updateId, ...update })
    return updateId
  }

  /** Queues exactly this, whatever its id: the way in for a hostile service. */
  pushRaw(update: Update): void {
    if (update.updateId >= this.#ids.next) this.#ids.next = update.updateId + 1
    this.#queued.set(this.#nextPlace++, { update, atMs: this.#clock.now() })
    this.#drop()
    this.wake()
  }

  /** Deletes every update below `offset` for good. */
  confirm(offset: number): void {
    for (const [place, { update }] of this.#queued) {
      if (update.updateId < offset) this.#queued.delete(place)
    }
  }

  /** The oldest updates, at most `limit`. */
  list(limit: number): Update[] {
    this.#drop()
    const oldest: Update[] = []
    for (const { update } of this.#queued.values()) {
      if (oldest.length >= limit) break
      oldest.push(update)
    }
    return oldest
  }

  /** How many are waiting. */
  get size(): number {
    this.#drop()
    return this.#queued.size
  }

  /** Tells everybody who waits to look again. */
  wake(): void {
    for (const waker of this.#wakers) waker()
  }

  /** Calls back on every change until the returned function is called. */
  onWake(waker: () => void): () => void {
    this.#wakers.add(waker)
    return () => this.#wakers.delete(waker)
  }

  #drop(): void {
    const oldestMs = this.#clock.now() - FIXED_LIMITS.retentionMs
    for (const [place, { atMs }] of this.#queued) {
      const isTooMuch = this.#queued.size > FIXED_LIMITS.retentionUpdates
      if (atMs >= oldestMs && !isTooMuch) return
      this.#queued.delete(place)
    }
  }
}
