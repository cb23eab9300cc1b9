import { OperatorError } from '../errors.ts';
import { type AttemptParts } from './attempts.ts';
import type { ReadyKey } from './own-key.ts';
import type { Rotation } from './rotation.ts';
export interface ReconcileParts extends AttemptParts {
    /** Our clock minus the service's, in ms; null while unknown. */
    clockSkewMs: () => number | null;
    /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
    rotateEveryMs: number | null;
}
/** Steps must not overlap: whoever calls takes turns. */
export declare class Reconciler {
    #private;
    constructor(parts: ReconcileParts);
    /**
     * Compares `/me` with the keyring and does what follows: never a second key while one waits,
     * never over a key that is not ours, never one back that was removed.
     * @returns whether nothing is left to do until the next regular look
     * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`, OperatorError
     */
    compare(): Promise<boolean>;
    /**
     * Publishes by the operator's word: what waits, the active key again, or a first one.
     * @param options `replace`: also over a key that is not ours
     * @throws as `compare` does; Refusal `postern_key_conflict`, `postern_key_unpublished`
     */
    publish(options: {
        replace: boolean;
    }): Promise<ReadyKey>;
    /**
     * Begins a rotation: the new key is made and on disk; `compare` does the rest.
     * @throws as `compare` does; Refusal naming why our key is not the published one
     */
    beginRotation(): Promise<void>;
    /**
     * Makes the bot's first key and leaves it unpublished.
     * @throws OperatorError `refused` when there is one already, or the clocks differ; ServiceError,
     *   NoResponseError
     */
    makeFirst(): Promise<ReadyKey>;
    /** Lets an attempt that has not come to the publication end there. */
    drop(): void;
    /**
     * Forgets the key of a rotation that the service has not been told of.
     * @throws OperatorError `refused`; Refusal `postern_store_unwritable`
     */
    abandon(): Promise<Rotation>;
}
/** No key is made while the clocks are too far apart. */
export declare class ClockOff extends OperatorError {
    constructor(message: string);
}
