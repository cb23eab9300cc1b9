/**
 * Holds the sidecar's own calls to a number in any window, so that they never starve the bot's.
 * First come, first served. Times are of the monotonic clock.
 */
export declare class Budget {
    #private;
    /** @param limit asked afresh each time; anything below 1 counts as 1 */
    constructor(limit: () => number, windowMs: number);
    get limit(): number;
    /** Calls begun within the last window. */
    get used(): number;
    /**
     * Resolves when a call may begin, and counts it.
     * @param untilMs by when it must begin, of `performance.now()`
     * @throws Refusal `postern_busy` with `retryAfter` at once, when its turn would come later;
     *   NoResponseError when the signal ends the wait
     */
    take(untilMs: number, signal: AbortSignal): Promise<void>;
    /** Counts a call that is not made to wait, such as a repeated attempt. */
    count(): void;
}
