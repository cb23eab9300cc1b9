import type { Log } from '../logger.ts';
import type { Keyring } from './keyring.ts';
import { type PublicationCalls } from './offer.ts';
import type { ReadyKey } from './own-key.ts';
import type { RotationOutcome, RotationWatch } from './rotation.ts';
import type { Standing } from './standing.ts';
export interface AttemptParts {
    keyring: Keyring;
    standing: Standing;
    rotations: RotationWatch;
    calls: PublicationCalls;
    log: Log;
    /** Called for each attempt at a rotation. */
    rotated: (outcome: RotationOutcome) => void;
    /** The process ends. */
    stop: AbortSignal;
}
export declare class Attempts {
    #private;
    constructor(parts: AttemptParts);
    /** Whether a publication was taken a while ago, and `/me` may not show it yet. */
    isLagging(shown: string | null): boolean;
    /** Lets an attempt that still waits for sends end there, and every later one until `dropped`. */
    drop(): void;
    /** What was to be dropped is. */
    dropped(): void;
    /**
     * Publishes a key while sends wait.
     * @param before what `/me` shows now
     * @param failures `throw`: also where the key before it goes on being the published one
     * @returns whether nothing is left to do now
     * @throws what kept the key from being published, where no other is
     */
    offer(key: ReadyKey | undefined, before: string | null, failures?: 'throw'): Promise<boolean>;
    /** Takes in that the service shows a key. @throws Refusal `postern_store_unwritable` */
    promote(key: ReadyKey | undefined): Promise<true>;
}
/** The code of an error for log and status; others have none. */
export declare function codeOf(error: unknown): string;
/** How long the service asks to wait, in ms. */
export declare function retryAfterMs(error: unknown): number;
