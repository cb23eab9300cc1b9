import type { Cipher, SealRequest } from '../engine.ts';
import type { SealedDigests } from '../sealed.ts';
/** A sealed message as text, with what it is known again by. */
export interface LibrarySealed extends SealedDigests {
    armored: string;
}
/**
 * Takes a text, the recipients' certificates and the signer; the signer is made a recipient too,
 * and nobody is one twice.
 * Gives one armored message and what it is known again by: recipient packets (v3), then one integrity-protected container (v1),
 * which every OpenPGP program reads.
 * @throws Error when any certificate cannot be used: nobody is left out silently
 */
export declare function seal(request: SealRequest, nowMs: number): Promise<LibrarySealed>;
/**
 * Gives recipient packets of certificates alone, for a message that is otherwise sealed natively.
 * @param sessionKey in memory that is shared with who asks; what is copied of it here is zeroed
 */
export declare function recipientPackets(certificates: string[], { data, algorithm }: {
    data: Uint8Array;
    algorithm: Cipher;
}, nowMs: number): Promise<Uint8Array>;
/** Whether all certificates list AES-256. */
export declare function allListAes256(certificates: string[], nowMs: number): Promise<boolean>;
