import { FIXED_LIMITS } from '../../api/limits.ts'
import type { Update } from '../../api/update.ts'
import type { Clock } from '../clock.ts'

const FIRST_UPDATE_ID = 500_001

/** A bot's queue: growing ids, 72 hours, 10 000 unread, the oldest go first (spec, Events 2). */
export class Mailbox {
  readonly #clock: Clock
  #queued: { update: Update; atMs: number }[] = []
  #nextId = FIRST_UPDATE_ID
  readonly #wakers = new Set<() => void>()
  /** Ends the poll in progress; set by whoever polls. */
  endPoll: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Queues an update under the next id, which it gives. */
  push(update: Omit<Update, 'updateId'> & { kind: string }): number {
    const updateId = this.#nextId++
    this.pushRaw({ updateId, ...update })
    return updateId
  }

  /** Queues exactly this, whatever its id: the way in for a hostile service. */
  pushRaw(update: Update): void {
    if (update.updateId >= this.#nextId) this.#nextId = update.updateId + 1
    this.#queued.push({ update, atMs: this.#clock.now() })
    this.#drop()
    this.wake()
  }

  /** Deletes every update below `offset` for good. */
  confirm(offset: number): void {
    this.#queued = this.#queued.filter(({ update }) => update.updateId >= offset)
  }

  /** The oldest updates, at most `limit`. */
  list(limit: number): Update[] {
    this.#drop()
    return this.#queued.slice(0, limit).map(({ update }) => update)
  }

  /** How many are waiting. */
  get size(): number {
    this.#drop()
    return this.#queued.length
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
    const oldest = this.#clock.now() - FIXED_LIMITS.retentionMs
    const tooMany = this.#queued.length - FIXED_LIMITS.retentionUpdates
    let count = Math.max(tooMany, 0)
    while ((this.#queued[count]?.atMs ?? oldest) < oldest) count++
    if (count > 0) this.#queued.splice(0, count)
  }
}
