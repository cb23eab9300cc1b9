import type { Outcome } from '../chats/outcomes.ts';
import type { Seen } from '../chats/seen.ts';
import { type ExamineParts } from './examine.ts';
import type { MediaUrls } from './media-urls.ts';
import { type VerifyPolicy } from './verdict.ts';
export interface IncomingParts extends ExamineParts {
    seen: Seen;
    /** Setting `open.verify`. */
    verify: VerifyPolicy;
    /** Setting `open.normalizeText`. */
    normalizeText: boolean;
    urls: MediaUrls;
    /** Told of every Message of an answer that got a verdict, in order. */
    judged: (outcomes: Outcome[]) => void;
}
export declare class Incoming {
    #private;
    constructor(parts: IncomingParts);
    /**
     * Opens the updates of one answer in place. Gives the longest prefix that was ready in time;
     * nothing is dropped, nothing changes its place.
     * @param updates parsed updates, oldest first; those beyond a batch wait for the next poll
     * @param gone ends the work when nobody waits for the answer any more; it is empty then
     * @returns the updates to answer, and whether anything in them is not as it came
     */
    open(updates: unknown[], gone?: AbortSignal): Promise<{
        updates: unknown[];
        changed: boolean;
    }>;
}
