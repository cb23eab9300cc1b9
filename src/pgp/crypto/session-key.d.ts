import type { Cipher } from '../engine.ts';
import { type CipherId } from './ciphers.ts';
export interface SessionKey {
    cipher: CipherId;
    /** To be zeroed after use. */
    data: Buffer;
}
/** Makes a fresh one, in memory that threads can be let see: it is never copied to one. */
export declare function freshSessionKey(cipher: Cipher): SessionKey;
/** Bytes of a key of so many bytes with what `padSessionKey` adds. */
export declare function paddedLength(keyBytes: number): number;
/** With its cipher, a checksum, and padding to a multiple of 8 bytes; to be zeroed after use. */
export declare function padSessionKey({ cipher, data }: {
    cipher: number;
    data: Uint8Array;
}): Buffer;
/** Undoes `padSessionKey` for any cipher; null when padding or checksum are not right. */
export declare function unpadSessionKey(padded: Buffer): {
    cipher: number;
    data: Buffer;
} | null;
/** Bytes of what `wrapKey` makes of so many. */
export declare const wrappedLength: (bytes: number) => number;
/** Wraps data of a multiple of 8 bytes; gives 8 bytes more. @throws Error for a key of another length */
export declare function wrapKey(key: Uint8Array, data: Uint8Array): Buffer;
/** Undoes `wrapKey`; null when what was wrapped was not, or with another key. */
export declare function unwrapKey(key: Uint8Array, wrapped: Uint8Array): Buffer | null;
