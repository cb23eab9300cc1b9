import type { Log } from '../logger.ts';
import type { Keyring } from './keyring.ts';
import { type ReadyKey } from './own-key.ts';
import type { Situation } from './situation.ts';
/**
 * `published`: `/me` shows it. `unpublished`: not confirmed yet. `conflict`: `/me` shows a key that
 * is not ours. `expired`: `/me` shows ours, whose time is over. `unprotected`: none, although we
 * had published.
 */
export type PublicationState = 'published' | 'unpublished' | 'conflict' | 'expired' | 'unprotected';
export interface StandingParts {
    keyring: Keyring;
    log: Log;
    /** Called on every change, with what an operator should read. */
    changed: (state: PublicationState, detail: string) => void;
}
export declare class Standing {
    #private;
    /** What the last look at `/me` found; null before the first. */
    situation: Situation | null;
    /** A key that still waits for its publication must be settled first. */
    constructor(parts: StandingParts);
    get state(): PublicationState;
    /** @param detail what an operator should read */
    become(state: PublicationState, detail: string): void;
    /** The service shows the active key. */
    becomeShown(): void;
    /** The key to sign with. @throws Refusal naming why nothing can be sealed now */
    requirePublished(): ReadyKey;
    /**
     * Gives the key to sign with, which stays the published one until `leave` is called. Waits while
     * another is being published.
     * @throws Refusal naming why nothing can be sealed now, after at most `HOLD_MAX_MS`
     */
    enter(): Promise<{
        signer: ReadyKey;
        leave: () => void;
    }>;
    /**
     * Lets sends wait while something is done that may change the key. Past the bound the key counts
     * as unpublished until it is known better, and they are refused.
     * @param work gets a function that resolves when every send under way is through
     */
    hold<T>(work: (through: (signal: AbortSignal) => Promise<void>) => Promise<T>): Promise<T>;
}
