import type { Clock } from './clock.ts';
/** Whose poll displaced another: one that came through this sidecar too, or one from elsewhere. */
export type Taker = 'here' | 'elsewhere';
export interface PollWatchParts {
    clock: Clock;
    /** Called when a poll was taken over. */
    onEvicted: (by: Taker) => void;
    /** Called when that happened so often that somebody else polls; with null when it has stopped. */
    onContested: (by: Taker | null) => void;
}
/** A poll under way. */
export interface WatchedPoll {
    /**
     * It was answered.
     * @param count of updates in the answer
     * @returns true when it was ended by another poll
     */
    answered(count: number): boolean;
}
/** Notices that polls of this bot take over each other. */
export declare class PollWatch implements Disposable {
    #private;
    constructor(parts: PollWatchParts);
    /** A poll begins. */
    begin(timeoutSeconds: number): WatchedPoll;
    [Symbol.dispose](): void;
}
