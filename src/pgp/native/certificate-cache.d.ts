import { type CertificateInfo, type CheckedCertificate } from './certificate-info.ts';
import type { CertificateReader } from './certificate-reader.ts';
import type { WorkPriority } from './threads.ts';
export interface CertificateCacheParts {
    reader: CertificateReader;
    priority: WorkPriority;
    /** What the library finds at a time, which is the last word. */
    judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>;
    /** Called once, when the library did not say what was read natively. */
    onDisagreement(): void;
}
/**
 * Judges armored certificates and remembers them by digest of their exact text. One of the common
 * shape is read natively and may be used at once; the library judges it too, right afterwards, and
 * if it ever says otherwise, nothing is read natively any more. All others the library judges
 * first. What has a time is looked at on each use.
 */
export declare class CertificateCache implements Disposable {
    #private;
    /** How often a certificate was judged already, or is being judged, and how often not. */
    readonly lookups: {
        hits: number;
        misses: number;
    };
    constructor(parts: CertificateCacheParts);
    /** Changes whenever what was said before may not hold any more. */
    get epoch(): number;
    /**
     * What is known of a certificate that can be sealed to natively now; where nothing is, what it
     * will be found to be.
     */
    infoOf(armored: string): CertificateInfo | Promise<CheckedCertificate>;
    /**
     * What a certificate is now.
     * @param known an earlier copy whose revocations must not be forgotten
     */
    check(armored: string, known?: string): Promise<CheckedCertificate>;
    /** Forgets what was read natively, and reads nothing so any more. */
    [Symbol.dispose](): void;
}
