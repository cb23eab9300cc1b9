/** Judging certificates: what they are and whether they can be sealed to (DESIGN: Sealing). */
import { type Key, type PublicKey, type Subkey } from 'openpgp';
import type { CertificateStatus } from '../engine.ts';
import type { CheckedCertificate } from '../native/certificate-info.ts';
/**
 * Judges an armored certificate. Takes its text, our clock in ms, and an earlier copy whose
 * revocations are merged into it. Never throws for what the text holds.
 */
export declare function judge(armored: string, nowMs: number, known?: string): Promise<CertificateStatus>;
/** The same, with what sealing and verifying need of it where that can be done natively. */
export declare function judgeFully(armored: string, nowMs: number, known?: string): Promise<CheckedCertificate>;
/** The subkey to seal to, at our clock or as far ahead of it as clocks may differ. */
export declare function encryptionKey(key: PublicKey, nowMs: number): Promise<{
    subkey: Key | Subkey;
    date: Date;
} | {
    problem: string;
}>;
/**
 * Seals a session key of zeros to a subkey, which fails where its point is not on its curve, its
 * numbers are none, or its key derivation is unknown: one person of a group with such a
 * certificate would otherwise stop every message to all others.
 * @param date at which the subkey was found to be valid
 */
export declare function canBeSealedTo(key: PublicKey, subkey: Key | Subkey, date: Date): Promise<boolean>;
