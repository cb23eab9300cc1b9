import { type CertificateInfo } from './certificate-info.ts';
/**
 * Reads and verifies an armored certificate of the common shape that is valid at `nowMs`.
 * @returns null for everything else, which says nothing about it
 */
export declare function readCommonCertificate(armored: string, nowMs: number): CertificateInfo | null;
