import type { Signed, SignedAtLength, SignatureResult } from '../engine.ts';
/**
 * Takes a document with its signatures, the one certificate that may have made them, and our
 * clock in ms. Gives one result a signature: `other-key` when the certificate holds no key with
 * the issuer's id, `bad` for everything else that does not hold.
 */
export declare function verify(signed: Signed | SignedAtLength, certificate: string, nowMs: number): Promise<SignatureResult[]>;
