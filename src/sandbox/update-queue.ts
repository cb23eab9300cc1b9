import type { Update } from '../api/updates.ts'
import { Listeners } from '../util/listeners.ts'
import type { WorldClock } from './clock.ts'
import type { WorldLimits } from './limits.ts'

/** Counts ids. */
export interface IdCounter {
  next: number
}

interface UpdateQueueParts {
  clock: WorldClock
  limits: WorldLimits
  /** The updates that wait already, by position in the queue, oldest first. */
  queued: Map<number, { update: Update; atMs: number }>
  ids: IdCounter
  /** Called with each new update. */
  onPush: (update: Update) => void
}

export type UpdateQueue = ReturnType<typeof createUpdateQueue>

/**
 * A bot's updates: increasing ids; dropped after 72 hours, and the oldest beyond 10 000, unless the
 * limits differ (spec, Events 2).
 */
export function createUpdateQueue({ clock, limits, queued, ids, onPush }: UpdateQueueParts) {
  let nextPosition = ([...queued.keys()].at(-1) ?? 0) + 1
  const { add: onWake, emit: wake } = new Listeners()

  /** Queues exactly this update, under any id, as a hostile service might. */
  const pushRaw = (update: Update): void => {
    ids.next = Math.max(ids.next, update.updateId + 1)
    queued.set(nextPosition++, { update, atMs: clock.now() })
    dropOld()
    wake()
    onPush(update)
  }
  const dropOld = (): void => {
    const { retentionMs, retentionUpdates } = limits.values
    const oldestMs = clock.now() - retentionMs
    for (const [position, { atMs }] of queued) {
      if (atMs >= oldestMs && queued.size <= retentionUpdates) return
      queued.delete(position)
    }
  }

  return {
    /** Queues an update under the next id. Gives the id. */
    push: (update: Omit<Update, 'updateId'> & { kind: string }): number => {
      const updateId = ids.next
      pushRaw({ updateId, ...update })
      return updateId
    },
    pushRaw,
    /** Deletes every update below `offset` for good. */
    confirm: (offset: number): void => {
      for (const [position, { update }] of queued) {
        if (update.updateId < offset) queued.delete(position)
      }
    },
    /** The oldest updates, at most `limit`. */
    list: (limit: number): Update[] => {
      dropOld()
      const oldest = queued.values().take(limit)
      return Array.from(oldest, ({ update }) => update)
    },
    /** How many are waiting. */
    get size(): number {
      dropOld()
      return queued.size
    },
    /** Calls back on every `wake` until the returned function is called. */
    onWake,
    /** Has every waiting poll or delivery read the queue again. */
    wake,
    /** Ends the poll in progress; the poll sets it. */
    endPoll: null as (() => void) | null,
  }
}
