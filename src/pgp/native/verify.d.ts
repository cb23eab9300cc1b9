import type { Statement } from '../crypto/algorithm.ts';
import type { Signed, SignedAtLength, SignatureResult } from '../engine.ts';
import { type CertificateInfo } from './certificate-info.ts';
/** What is already known of a signature, or what is to be verified. */
export type CheckedClaim = 'bad' | 'other-key' | Statement;
/**
 * Judges signatures against what is known of a certificate, as `verify` of the library does, all but whether
 * the key made them.
 * @param nowMs our clock
 * @returns in the order of the signatures; null where any of them is not of the common form
 */
export declare function checkClaims(signed: Signed | SignedAtLength, info: CertificateInfo, nowMs: number): CheckedClaim[] | null;
export declare class Verifier {
    #private;
    /** @param isBusy whether there is anything else to do here that signatures can be verified beside */
    constructor(isBusy: () => boolean);
    /**
     * Judges signatures against what is known of a certificate, as `verify` of the library does.
     * @returns null where any of them is not of the common form, before any is verified
     */
    verify(signed: Signed | SignedAtLength, info: CertificateInfo, nowMs: number): Promise<SignatureResult[] | null>;
}
