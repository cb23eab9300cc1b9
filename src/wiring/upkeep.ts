/** What the store needs now and then while the sidecar runs. */
import type { ReplayMemory } from '../kernel/opening/replay-memory.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 3_600_000

/**
 * Forgets once an hour what is past the reach of the memory against replays. A failed write shows
 * in health.
 * @param keysSinceMs when the oldest key was made that still opens, null without any
 */
export function pruneHourly(
  replayMemory: Pick<ReplayMemory, 'prune'>,
  keysSinceMs: () => number | null,
): Disposable {
  const prune = (): void => {
    void replayMemory.prune(keysSinceMs()).catch(() => undefined)
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
