/** Recipients of a message: their packets (RFC 9580, 5.1), and their keys as bytes for threads. */
import type { KeyObject } from 'node:crypto';
import type { Ephemeral, PaddedSessionKey, RecipientAlgorithmId, RecipientPoint, WrappedSessionKey, RecipientKey } from './algorithm.ts';
import type { CipherId } from './ciphers.ts';
/** What a packet says, as it stands. */
export interface RecipientForm extends WrappedSessionKey {
    /** 16 lower-case hexadecimal characters. */
    keyId: string;
    algorithm: RecipientAlgorithmId;
}
/** Our key that a packet is for. */
export interface RecipientSecret {
    key: Pick<RecipientPoint, 'algorithm' | 'point'>;
    fingerprint: Uint8Array;
    secret: KeyObject;
}
/** Reads the body of a packet; null for every other form. */
export declare function readRecipient(body: Uint8Array): RecipientForm | null;
/**
 * What our key and the sender's point share, for `openRecipient`, which zeroes it; null where they
 * share nothing that is secret.
 */
export declare function sharedWith(form: RecipientForm, own: RecipientSecret): Buffer | null;
/**
 * Opens a packet with our key.
 * @param shared of `sharedWith`, with the same key
 * @returns the session key, to be zeroed after use; null when it does not open
 */
export declare function openRecipient(form: RecipientForm, own: RecipientSecret, shared?: Buffer<ArrayBufferLike> | null): {
    cipher: number;
    data: Buffer;
} | null;
/** Bytes of the packet that `writeRecipient` writes. */
export declare function recipientBytes(algorithm: RecipientAlgorithmId, cipher: CipherId): number;
/**
 * Writes the packet that gives a recipient the session key.
 * @param ephemeral of the recipient's algorithm
 * @param to `target` and the place in it where the packet begins
 * @throws Error for a recipient whose key is not sound
 */
export declare function writeRecipient(sessionKey: PaddedSessionKey, ephemeral: Ephemeral, { recipient, target, at }: {
    recipient: RecipientPoint;
    target: Uint8Array;
    at: number;
}): void;
/** Algorithm, date of creation, point; zeros after a shorter one. */
export declare const RECIPIENT_KEY_BYTES: number;
/** Puts keys one after the other. */
export declare function packRecipientKeys(keys: readonly RecipientKey[]): Buffer;
/** Gives one again. @throws Error for an algorithm that is not sealed to natively */
export declare function unpackRecipientKey(packed: Buffer, at: number): RecipientPoint;
/** The algorithm of one alone. @throws as `unpackRecipientKey` */
export declare function recipientAlgorithmAt(packed: Uint8Array, at: number): RecipientPoint['algorithm'];
