import type { Update } from '../api/update.ts';
import type { WorldClock } from './clock.ts';
/** An update, and when it was queued. */
export interface QueuedUpdate {
    update: Update;
    atMs: number;
}
/** Counts ids. */
export interface IdCounter {
    next: number;
}
/**
 * A bot's updates: increasing ids; dropped after 72 hours, and the oldest beyond 10 000 (spec,
 * Events 2).
 */
export declare class UpdateQueue {
    #private;
    /** Ends the poll in progress; the poll sets it. */
    endPoll: (() => void) | null;
    /** @param queued the updates that wait already, by increasing numbers */
    constructor(clock: WorldClock, queued: Map<number, QueuedUpdate>, ids: IdCounter);
    /** Queues an update under the next id. Gives the id. */
    push(update: Omit<Update, 'updateId'> & {
        kind: string;
    }): number;
    /** Queues exactly this update, whatever its id, as a hostile service might. */
    pushRaw(update: Update): void;
    /** Deletes every update below `offset` for good. */
    confirm(offset: number): void;
    /** The oldest updates, at most `limit`. */
    list(limit: number): Update[];
    /** How many are waiting. */
    get size(): number;
    /** Lets every waiting poll or delivery look at the queue again. */
    wake(): void;
    /** Calls back on every `wake` until the returned function is called. */
    onWake(listener: () => void): () => void;
}
