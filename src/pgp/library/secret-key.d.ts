/** The bot's own secret keys: made, locked, unlocked. */
import { type PrivateKey } from 'openpgp';
import type { OwnKey, UnlockedKey } from '../engine.ts';
/**
 * Makes a v4 key in the encodings that every OpenPGP program reads: Ed25519 primary that
 * certifies and signs, Curve25519 subkey that encrypts, no expiry (RFC 9580, 9.2.1).
 * `certifiedBy` is the key before it, which then vouches for it in its certificate.
 */
export declare function generate(options: {
    userId: string;
    createdMs: number;
    passphrase: string;
    isRandom?: boolean | undefined;
    certifiedBy?: UnlockedKey | undefined;
}): Promise<OwnKey>;
/**
 * Puts a certification of every user id by another key's primary onto a key (RFC 9580, 5.2.1.4):
 * who trusts the old key can see that its holder made the new one. By hand, because the library
 * certifies with a signing subkey where there is one, which means nothing to a verifier.
 */
export declare function certify(key: PrivateKey, certifier: UnlockedKey): Promise<void>;
/** @throws Error `wrong-passphrase`, or what the library says of a block that is no v4 secret key */
export declare function unlock(locked: string, passphrase: string): Promise<UnlockedKey>;
/** A key as the engine uses it. */
export declare function unlockedFrom(unlocked: PrivateKey): UnlockedKey;
/**
 * Locks a key under another passphrase.
 * @returns the armored key, after it was seen to open
 * @throws Error `wrong-passphrase`, or what `unlock` throws
 */
export declare function relock(locked: string, o: {
    from: string;
    to: string;
    isRandom?: boolean;
}): Promise<string>;
/** Locks a key, and gives it armored. */
export declare function lock(privateKey: PrivateKey, o: {
    to: string;
    isRandom?: boolean | undefined;
}): Promise<string>;
