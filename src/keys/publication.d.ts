import type { Bot } from '../api/bot.ts';
import type { Log } from '../logger.ts';
import type { Keyring } from './keyring.ts';
import type { PublicationCalls } from './offer.ts';
import type { ReadyKey } from './own-key.ts';
import { type Rotation, type RotationOutcome } from './rotation.ts';
import { type Situation } from './situation.ts';
import { type PublicationState } from './standing.ts';
export type { PublicationState } from './standing.ts';
export interface PublicationParts {
    keyring: Keyring;
    calls: PublicationCalls;
    log: Log;
    /** Our clock minus the service's, in ms; null while unknown. */
    clockSkewMs: () => number | null;
    /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
    rotateEveryMs: number | null;
    /** Called on every change, with what an operator should read. */
    changed: (state: PublicationState, detail: string) => void;
    /** Called for each attempt at a rotation. */
    rotated: (outcome: RotationOutcome) => void;
}
/**
 * Keeps the service's view of our key equal to ours, and rotates it (DESIGN: Keys): looks at start,
 * on a timer and when asked, one step at a time.
 */
export declare class Publication implements AsyncDisposable {
    #private;
    constructor(parts: PublicationParts);
    get state(): PublicationState;
    /** What the last look at `/me` found; null before the first. */
    get situation(): Situation | null;
    /** The rotation under way, or the last one since the start. */
    get rotation(): Rotation | null;
    /** @throws Refusal naming why nothing can be sealed now */
    requirePublished(): ReadyKey;
    /**
     * Gives the key to seal with, which stays the published one until `leave` is called: when the
     * message was answered, or will not leave. Waits, with a bound, while another is published.
     * @throws Refusal naming why nothing can be sealed now
     */
    enter(): Promise<{
        signer: ReadyKey;
        leave: () => void;
    }>;
    /** Compares now and then on a timer, sooner while something is missing. */
    start(): void;
    /** The token was burnt: nothing is asked until `suspect` says that a call works again. */
    pause(): void;
    /** Something hints that the service's view changed: compare soon. */
    suspect(): void;
    /** Compares at once; failures are told by the state alone. */
    compareNow(): Promise<void>;
    /** Takes in a `/me` that was asked for anyway. */
    observe(bot: Bot): void;
    /**
     * Publishes by the operator's word: the active key again, or a first one.
     * @param options `replace`: also over a key that is not ours
     * @throws ServiceError, NoResponseError, Refusal `postern_key_conflict`
     */
    publish(options: {
        replace: boolean;
    }): Promise<ReadyKey>;
    /** Makes the bot's first key and publishes nothing. @throws as `Reconciler.makeFirst` does */
    makeFirst(): Promise<ReadyKey>;
    /** Lets `take` bring a pending key from elsewhere; where the sidecar runs, it is published. */
    adopt<T>(take: () => Promise<T>): Promise<T>;
    /**
     * Begins a rotation, and gives it once the new key is on disk; `rotation` tells how it goes on.
     * One that is under way is joined, and what it waits for is tried now.
     * @throws as `publish` does; Refusal naming why our key is not the published one
     */
    rotate(): Promise<Rotation>;
    /**
     * Abandons the rotation under way, before the service is told of the new key.
     * @throws OperatorError `refused` when none is, or when it is too late
     */
    abandon(): Promise<Rotation>;
    [Symbol.asyncDispose](): Promise<void>;
}
