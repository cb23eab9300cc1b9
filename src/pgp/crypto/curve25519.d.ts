/** X25519 by node:crypto (RFC 7748). Each of these takes some forty microseconds. */
import { type KeyObject } from 'node:crypto';
import type { Ephemeral } from './algorithm.ts';
/** Bytes of a public point. */
export declare const POINT_BYTES = 32;
/** Takes the 32 bytes of a secret scalar, little-endian. */
export declare function x25519Secret(scalar: Uint8Array): KeyObject;
/** Makes a pair that nobody had before. */
export declare function freshPair(): Ephemeral;
/** Gives a pair that was made ahead, or makes one. */
export declare function takePair(): Ephemeral;
/** Makes some pairs ahead. @returns whether there is room for more */
export declare function refillEphemerals(): boolean;
/**
 * Gives the 32 bytes that two keys share; to be zeroed after use.
 * @param point of the other one, 32 bytes
 * @throws Error for a point of low order, whose shared secret would be no secret
 */
export declare function agree(secret: KeyObject, point: Uint8Array): Buffer;
/** The same for a point that somebody sent; null for one of low order. */
export declare function agreeWith(secret: KeyObject, point: Uint8Array): Buffer | null;
/** As `agree`, with a point that is likely to come again: it is kept as it was read. */
export declare function agreeAgain(secret: KeyObject, point: Uint8Array): Buffer;
/** Whether a public point is one that nothing may be sealed to. */
export declare function isLowOrder(point: Uint8Array): boolean;
/** A public key from its 32 bytes; any are one. Takes some ten microseconds. */
export declare function rawPublicKey(point: Uint8Array, algorithm: 'x25519' | 'ed25519'): KeyObject;
