/** How often an answer was there, and how often it had to be fetched. */
export interface Lookups {
    hits: number;
    misses: number;
}
/** The moment, in ms, by a clock that nobody can set back: what freshness is measured with. */
export declare const moment: () => number;
/**
 * Answers of the service by key, with the moment they were asked for. One fetch a key in flight,
 * shared by all callers; an answer asked for earlier never replaces one asked for later; a failed
 * fetch is told to its callers and not remembered.
 */
export declare class FreshCache<V extends {}> {
    #private;
    /** What `get` found since the beginning; an answer that was under way already is a hit. */
    readonly lookups: Lookups;
    /**
     * @param options `max` answers are kept, of `maxBytes` together where `bytesOf` says what one
     *   takes; the least recently used go first
     */
    constructor(options: {
        max: number;
        fetch: (key: number) => Promise<V>;
        bounds?: {
            maxBytes: number;
            bytesOf: (value: V) => number;
        };
    });
    /** What is remembered, if asked for at `sinceMs` (a `moment`) or later; no call is made. */
    peek(key: number, sinceMs: number): V | undefined;
    /** An answer that was asked for at `sinceMs` (a `moment`) or later; fetched if need be. */
    get(key: number, sinceMs: number): Promise<V>;
    /** Takes in an answer that came by another way. */
    set(key: number, value: V, askedAtMs: number): void;
    forget(key: number): void;
    /** Forgets everything; what is being asked for now is not remembered either. */
    clear(): void;
}
