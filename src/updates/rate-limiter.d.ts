import type { Clock } from './clock.ts';
/**
 * Spreads the calls of one loop over time: a burst at once, then so many a minute. Updates that
 * come faster than that come in larger batches.
 */
export declare class RateLimiter {
    #private;
    /** @param perMinute asked afresh each time; anything below 1 counts as 1 */
    constructor(clock: Clock, perMinute: () => number);
    /** Resolves when the next call may be made, or the signal is aborted. */
    acquire(signal: AbortSignal): Promise<void>;
}
