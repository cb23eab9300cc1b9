import { type Update } from '../api/update.ts';
/** What was delivered last, distinguishable from what was not: a restart repeats nothing. */
export interface Delivered {
    updateId: number;
    /** Tells the update from another that a service which began anew gave the same id. */
    mark: string;
}
/** A mark over kind, ids and dates; nobody's words are in it. */
export declare function deliveredOf(update: Update): Delivered;
/**
 * The updates that are still to be delivered. Only what is proven to have been is left out: an id
 * alone proves nothing, since a service that lost its memory counts from the beginning.
 * @param updates oldest first
 */
export declare function afterDelivered(updates: Update[], last: Delivered | null): Update[];
/**
 * The updates of a successful answer to `GET /updates`, as they were parsed.
 * @throws NoResponseError `postern_upstream_invalid` when it is no list of updates with growing ids: a
 *   batch that does not grow is confirmed wrongly by whoever takes it
 */
export declare function readUpdates(result: unknown): Update[];
