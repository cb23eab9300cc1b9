import type { NativePublicKey } from './algorithm.ts';
/** Reads the public part at the start of a key packet's body; null for every other form. */
export declare function readPublicKey(body: Uint8Array): {
    key: NativePublicKey;
    read: number;
} | null;
/** The same for a body that holds nothing else. */
export declare function publicKeyOf(body: Uint8Array): NativePublicKey | null;
/** Writes what `readPublicKey` reads. */
export declare function publicKeyBody(key: NativePublicKey): Buffer;
/** A key's fingerprint, 20 bytes; the last 8 are its key id (RFC 9580, 5.5.4.2). */
export declare function fingerprintOf(key: NativePublicKey): Buffer;
/** A key's body as signatures and its fingerprint are computed over it (RFC 9580, 5.2.4). */
export declare function keyOver(body: Uint8Array): Buffer;
