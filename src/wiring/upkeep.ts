/** What the store needs now and then while the sidecar runs. */
import type { ReplayMemory } from '../chats/replay-memory.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 3_600_000

/**
 * Forgets once an hour what is past the reach of the memory against replays, while our clock agrees
 * with the service's to the hour: one that has jumped ahead would forget what is still needed. A
 * failed write shows in health.
 * @param now `skewMs` how far our clock is ahead of the service's, null while unknown; `keysSinceMs`
 *   when the oldest key was made that still opens, null without any
 */
export function pruneHourly(
  replayMemory: Pick<ReplayMemory, 'prune'>,
  now: { skewMs: () => number | null; keysSinceMs: () => number | null },
): Disposable {
  const prune = (): void => {
    const skewMs = now.skewMs()
    if (skewMs === null || Math.abs(skewMs) > HOUR_MS) return
    void replayMemory.prune(now.keysSinceMs()).catch(() => undefined)
  }
  const timer = setInterval(prune, HOUR_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Writes something that is another thing each time, so that the disk has to take it.
 * @throws Refusal `postern_store_unwritable`
 */
export async function tryWriting(store: Store): Promise<void> {
  const value = String(Date.now())
  await store.write((db) =>
    db
      .insertInto('flags')
      .values({ name: 'tried_writing_at', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute(),
  )
}
