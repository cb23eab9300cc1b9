import { type SessionKey } from '../crypto/session-key.ts';
/** Recipient packets in the making, in memory that all threads at work on them see. */
export interface WrapJob {
    /** Of `packRecipientKeys`. */
    recipientKeys: Uint8Array;
    sessionKey: {
        cipher: SessionKey['cipher'];
        data: Uint8Array;
    };
    packets: Uint8Array;
    /** The first block that nobody has taken; then for each of them 1 when it is done. */
    progress: Int32Array;
}
/**
 * Lays out the work.
 * @param recipientKeys in shared memory, as `packRecipientKeys` wrote them
 * @param sessionKey in shared memory; zeroed by the caller, when nobody works on it any more
 */
export declare function createWrapJob(recipientKeys: Uint8Array, sessionKey: SessionKey): WrapJob;
/**
 * Works on blocks that nobody has taken, at most so many.
 * @returns whether there may be more
 * @throws Error when one cannot be sealed to
 */
export declare function wrapBlocks(job: WrapJob, most: number): boolean;
/** Whether all packets are there. */
export declare function isComplete({ progress }: WrapJob): boolean;
/**
 * Gives all packets, in memory of this thread alone: those that are there, and here and now, in
 * steps, those that are not, because the thread died that had taken them.
 * @throws as `wrapBlocks`
 */
export declare function collectPackets(job: WrapJob): Promise<Buffer>;
/** Makes all packets here. @throws as `wrapBlocks` */
export declare function wrapHere(recipientKeys: Uint8Array, sessionKey: SessionKey): Buffer;
