import type { CertificateCache } from './certificate-cache.ts';
import type { NativeOwnKey } from './own-keys.ts';
/** Holds from `fromS` on and before `untilS`. */
export interface RecipientList {
    /** The same for the same recipients in the same order, and the same key of ours. */
    name: string;
    /** Who is sealed to natively, as `packRecipientKeys` wrote them; we are among them, last. */
    recipientKeys: Buffer;
    /** Armored certificates of the others, who are the library's to seal to. */
    others: string[];
    /** All of `recipientKeys` list AES-256 (RFC 9580, 12.1). */
    readAes256: boolean;
    fromS: number;
    untilS: number;
}
type Sealing = NonNullable<NativeOwnKey['seals']>;
/** Recipient lists by the very array of certificates that they are made of, which must not change. */
export declare class RecipientLists {
    #private;
    constructor(certificates: CertificateCache);
    /**
     * Gives the list for armored certificates and our own key: everybody once.
     * @throws Error when any certificate cannot be sealed to: nobody is left out silently
     */
    of(certificates: readonly string[], by: Sealing): Promise<RecipientList>;
}
export {};
