import { type Examined, type ExamineParts } from './examine.ts';
import type { FoundMessage } from './find-messages.ts';
/** A Message with what was found out, and in how many ms. */
export interface Judgeable {
    found: FoundMessage;
    examined: Examined;
    ms: number;
}
/** How long a batch may take. */
export interface BatchTimes {
    /** For all of it; what is not finished then comes with the next poll. */
    budgetMs: number;
    /** For its first update, which must not hold up the queue for ever. */
    firstMs: number;
    /** How long a first update waits for calls that are used up, over several polls. */
    patienceMs: number;
}
export declare const BATCH_TIMES: BatchTimes;
export declare class Batches {
    #private;
    constructor(parts: ExamineParts, times?: BatchTimes);
    /**
     * Examines the Messages of updates in order of arrival.
     * @param updates one list of Messages an update, oldest first
     * @param gone ends the work when nobody waits for it any more; what is finished by then is kept
     * @returns the longest finished prefix; never empty for a batch that is not, unless nobody waits,
     *   or our calls to the service are used up and waiting for more loses nothing
     */
    examine(updates: FoundMessage[][], gone?: AbortSignal): Promise<Judgeable[][]>;
}
