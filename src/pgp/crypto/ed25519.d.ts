/**
 * Ed25519 over a digest, as OpenPGP signs (RFC 8032; RFC 9580, 5.2.3), by node:crypto, in the
 * encoding that every program reads and in the newer one.
 */
import { type KeyObject } from 'node:crypto';
import { type SignatureAlgorithm, type Statement } from './algorithm.ts';
/** A signature with the key that is to have made it, whichever its encoding. */
type Ed25519Statement = Omit<Statement, 'algorithm'>;
/** Takes the 32 bytes of a secret seed. */
export declare function ed25519Secret(seed: Uint8Array): KeyObject;
/** Gives the 64 bytes of a signature over a digest; takes some 40 microseconds. */
export declare function signDigest(secret: KeyObject, digest: Uint8Array): Buffer;
/** Whether a signature is the key's; takes some 120 microseconds. */
export declare function holds({ digest, point, numbers }: Ed25519Statement): boolean;
/** The same, on libuv's pool. */
export declare function holdsAside({ digest, point, numbers }: Ed25519Statement, done: (error: Error | null, holds: boolean) => void): void;
/** EdDSA as it was written before RFC 9580 (5.2.3.3): two integers. */
export declare const EDDSA_LEGACY: SignatureAlgorithm;
/** Ed25519 (RFC 9580, 5.2.3.4): 64 bytes as they are. */
export declare const ED25519: SignatureAlgorithm;
export {};
