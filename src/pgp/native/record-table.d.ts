import type { CertificateInfo } from './certificate-info.ts';
/**
 * Keeps info under digests, at most `capacity` of them; then those that were not asked for since
 * the last round make room. 100,000 take 13 MB.
 */
export declare class RecordTable {
    #private;
    constructor(capacity: number);
    get size(): number;
    /** Bytes that are taken up. */
    get byteLength(): number;
    get(digest: Buffer): CertificateInfo | null;
    /** Keeps info, in place of those that were there under the same digest. */
    set(digest: Buffer, info: CertificateInfo): void;
    /** Forgets everything. */
    clear(): void;
}
/**
 * Bytes of the digest that a record is found by, of SHA-256's 32: as many as a fingerprint has,
 * on which all trust in a certificate rests anyway.
 */
export declare const DIGEST_BYTES = 20;
export declare const RECORD_BYTES: number;
/** Writes a record at `at`; `digest` is of `DIGEST_BYTES`. */
export declare function packRecordInto(target: Buffer, at: number, { digest, info }: {
    digest: Uint8Array;
    info: CertificateInfo;
}): void;
/** A record by itself, without a digest. */
export declare function packRecord(info: CertificateInfo): Uint8Array;
/** Reads the record at `at`; its bytes are copied, since a record may be replaced. */
export declare function unpackRecord(source: Buffer, at: number): CertificateInfo;
