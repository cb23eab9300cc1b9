import { type SessionKey } from '../crypto/session-key.ts';
import type { Cipher } from '../engine.ts';
import { type PreparedMessage } from './prepared-message.ts';
import type { RecipientList } from './recipient-list.ts';
import type { Threads } from './threads.ts';
import type { WorkPriority } from './threads.ts';
/** What a message is prepared for. */
export interface PrepareRequest {
    list: RecipientList;
    cipher: Cipher;
}
export interface RecipientPacketsParts {
    threads: Threads;
    priority: WorkPriority;
    /** Recipient packets for certificates that are not of the common forms, made by the library. */
    packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>;
}
export declare class RecipientPackets {
    #private;
    constructor(parts: RecipientPacketsParts);
    /**
     * Prepares a message that somebody waits for; what a thread that died has left is done here.
     * @throws Error when any certificate cannot be used
     */
    buildNow(request: PrepareRequest): Promise<PreparedMessage>;
    /**
     * Prepares one ahead of time, when nobody waits for anything.
     * @throws as `buildNow`, and when a thread died
     */
    buildAhead(request: PrepareRequest): Promise<PreparedMessage>;
    /** Has the threads make up for the pairs that they have used, behind everything else. */
    refillEphemerals(): Promise<void>;
}
