/** A limit over a sliding window of time. */
export interface RateLimit {
    /** Greatest sum of weights in the window. */
    limit: number;
    periodMs: number;
}
/** One use, as it is stored. */
export interface RateUse {
    name: string;
    atMs: number;
    weight: number;
}
/**
 * Sliding windows by name. A refused use is not counted, so a client that waits out a 429 is not
 * punished for having asked (spec, Errors 2).
 */
export declare class RateWindows {
    #private;
    /** @param stored earlier uses, by increasing numbers */
    constructor(rates: 'spec' | 'off', stored: Map<number, RateUse>);
    /** Milliseconds until another use is allowed; 0 when it is allowed now. */
    waitMs(name: string, rule: RateLimit, nowMs: number): number;
    /** Counts one use, of weight 1 unless said otherwise. */
    take(name: string, atMs: number, weight?: number): void;
}
