/** What the store needs now and then while the sidecar runs. */
import type { Seen } from '../chats/seen.ts';
import type { Store } from '../store/store.ts';
/**
 * Forgets once an hour what is past the reach of the memory against replays, while our clock agrees
 * with the service's to the hour: one that has jumped ahead would forget what is still needed. A
 * failed write is told by health.
 * @param now `skewMs` how far our clock is ahead of the service's, null while unknown; `keysSinceMs`
 *   when the oldest key was made that still opens, null without any
 */
export declare function pruneHourly(seen: Pick<Seen, 'prune'>, now: {
    skewMs: () => number | null;
    keysSinceMs: () => number | null;
}): Disposable;
/**
 * Writes something that is another thing each time, so that the disk has to take it.
 * @throws Refusal `postern_store_unwritable`
 */
export declare function tryWriting(store: Store): Promise<void>;
