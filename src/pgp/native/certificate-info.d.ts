/** What sealing and verifying need of a certificate, once it was judged. */
import { type RecipientKey, type SigningKey } from '../crypto/algorithm.ts';
import type { CertificateStatus } from '../engine.ts';
/** Stands for never, where times are seconds. */
export declare const NEVER_S = 4294967295;
/**
 * A certificate that can be sealed to natively. All of it holds from `fromS` on and before
 * `untilS`: nothing in the certificate begins or ends in between.
 */
export interface CertificateInfo {
    /** Of the primary key, 20 bytes. */
    fingerprint: Uint8Array;
    /** The key to seal to. */
    recipientKey: RecipientKey;
    /** The key that signs messages; null where none can be verified natively. */
    signingKey: SigningKey | null;
    /** The signing key is the primary key, and not a subkey. */
    primarySigns: boolean;
    /** There is no key in the certificate but the primary key and these two. */
    hasNoOtherKey: boolean;
    /** It lists AES-256 among the ciphers that it reads (RFC 9580, 12.1). */
    readsAes256: boolean;
    fromS: number;
    untilS: number;
}
/** What is known of a certificate; `info` is null where it is the library's alone to use. */
export interface CheckedCertificate {
    status: CertificateStatus;
    info: CertificateInfo | null;
}
/** Whether it holds at a time, in ms. */
export declare function holdsAt({ fromS, untilS }: {
    fromS: number;
    untilS: number;
}, atMs: number): boolean;
/** The status of a certificate that this is known of; it expires when that ends. */
export declare function statusOf(info: CertificateInfo, armored: string): CertificateStatus;
