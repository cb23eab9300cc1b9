/** Threads for what is computed for many at once, and which work goes first on them. */
import type { UnlockedKey } from '../engine.ts';
import type { ArmoredPackets } from '../format/json-armor.ts';
import { type ThreadLoad } from '../pool.ts';
import type { CertificateInfo } from './certificate-info.ts';
import type { WrapJob } from './wrap-session-key.ts';
export declare class Threads implements AsyncDisposable {
    #private;
    /** How many there are at most. */
    readonly count: number;
    /** @param onThreadKilled called with a job's name when a thread died of it */
    constructor(count: number, onThreadKilled?: (job: string) => void);
    /**
     * Has a thread make recipient packets, so many blocks of them at most.
     * @returns whether there may be more to do
     * @throws JobKilled when the thread died, or all are gone; Error when one cannot be sealed to
     */
    wrap(job: WrapJob, blocks: number): Promise<boolean>;
    /** Puts recipient packets into armor. @throws JobKilled as `wrap` */
    armor(packets: Uint8Array[]): Promise<ArmoredPackets>;
    /** Makes pairs ahead, in one of the threads. @returns whether it has room for more */
    refillEphemerals(): Promise<boolean>;
    /** Reads certificates; null for those that are not of the common shape. */
    read(certificates: string[], atMs: number): Promise<(CertificateInfo | null)[]>;
    /**
     * Unlocks a secret key of the bot's; null when it is not of the common forms.
     * @throws Error `wrong-passphrase`
     */
    unlock(armored: string, passphrase: string): Promise<UnlockedKey | null>;
    get load(): ThreadLoad;
    [Symbol.asyncDispose](): Promise<void>;
}
/** Lets work that somebody waits for go before work that is done ahead of time. */
export declare class WorkPriority {
    #private;
    /** Does work that goes first. */
    urgent<T>(work: () => Promise<T>): Promise<T>;
    /** Does a piece of work ahead of time, when nothing goes first and no other piece is done. */
    background<T>(work: () => Promise<T>): Promise<T>;
}
