/** What the library knows of a certificate, for sealing and verifying natively. */
import { type PublicKey } from 'openpgp';
import type { UnlockedKey } from '../engine.ts';
import { type CertificateInfo } from '../native/certificate-info.ts';
/**
 * Takes a certificate that is usable at `nowMs`. Gives what holds for as long as nothing in it
 * begins or ends; null where it must stay the library's: another algorithm, anything revoked, or
 * usable only because clocks may differ.
 */
export declare function infoOf(key: PublicKey, nowMs: number): Promise<CertificateInfo | null>;
export interface OwnKeyInfo {
    /** Key ids that messages may be opened with, at any time. */
    opens: string[];
    /** Ciphers of session keys, by number, that the key says it reads; as long as `info` holds. */
    ciphers: number[];
    /** Of its certificate; null when it cannot sign and be sealed to natively now. */
    info: CertificateInfo | null;
}
/** Describes an unlocked key as it is at `nowMs`. */
export declare function describeOwnKey(key: UnlockedKey, nowMs: number): Promise<OwnKeyInfo>;
