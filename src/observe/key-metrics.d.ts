import { type Registry } from '@prometheus-io/client';
declare const STATES: readonly ['pending', 'active', 'retired', 'destroyed'];
declare const SITUATIONS: readonly ['equal', 'pending', 'older', 'foreign', 'none', 'first'];
declare const OUTCOMES: readonly ['done', 'abandoned', 'refused', 'unanswered', 'unconfirmed', 'not-made'];
/** What is known of our keys, asked when somebody looks. */
export interface KeySource {
    keys(): readonly {
        state: (typeof STATES)[number];
        publishedAtMs: number | null;
    }[];
    /** What the last look at `/me` found; null before the first. */
    situation(): (typeof SITUATIONS)[number] | null;
}
/** What is counted of the bot's own keys. */
export declare class KeyMetrics {
    #private;
    constructor(registry: Registry, source: KeySource);
    /** An attempt at a rotation ended. */
    rotated(outcome: (typeof OUTCOMES)[number]): void;
    /** A message was opened with a key of this state. */
    opened(state: (typeof STATES)[number]): void;
}
export {};
