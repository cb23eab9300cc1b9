/** Sealing natively: with what was prepared where a list is used again, at once where not. */
import type { SealRequest } from '../engine.ts';
import type { Sealed } from '../sealed.ts';
import type { CertificateCache } from './certificate-cache.ts';
import type { NativeOwnKeys } from './own-keys.ts';
import type { Precomputer } from './precompute.ts';
import type { RecipientPackets } from './recipient-packets.ts';
export interface MessageSealerParts {
    certificates: CertificateCache;
    own: NativeOwnKeys;
    packets: RecipientPackets;
    precomputer: Precomputer;
    /** Whether certificates that are the library's to seal to all list AES-256. */
    readAes256(certificates: string[]): Promise<boolean>;
}
export declare class MessageSealer implements Disposable {
    #private;
    constructor(parts: MessageSealerParts);
    /**
     * Seals a message.
     * @returns null, before anything was done, when our own key is the library's to use
     * @throws Error when any certificate cannot be used
     */
    seal({ text, certificates, signer, cipher, place }: SealRequest): Promise<Sealed | null>;
    /** Forgets every secret, and makes nothing more. */
    [Symbol.dispose](): void;
}
