/** Time, as deliveries count it: handed in, so that hours of waiting can be tried in no time. */
export interface Clock {
    /** ms since the Unix epoch. */
    now(): number;
    /** ms by a clock that nobody can set. */
    monotonicNow(): number;
    /** Resolves after so many ms, or as soon as the signal is aborted. */
    wait(ms: number, signal: AbortSignal): Promise<void>;
}
/** The clocks of this machine. Its timers keep no process alive. */
export declare const REAL_CLOCK: Clock;
