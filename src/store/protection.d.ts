import type { ProtectionTable } from './schema.ts';
/**
 * What a store rests under. Everything secret is locked under a master secret of 256 random bits,
 * and that alone is sealed under what the method gives: the operator's passphrase, through scrypt;
 * a random secret in the OS keychain; or a random secret in the store itself, which protects nothing.
 */
export declare const METHODS: readonly ['passphrase', 'keychain', 'none'];
export type Method = (typeof METHODS)[number];
/** A protection that is open: what to lock OpenPGP keys under, and what seals the rest. */
export interface Held {
    method: Method;
    /** What OpenPGP keys are locked under: 256 random bits; in a store of before, what opens the store. */
    masterSecret: string;
    /** True once everything rests under a random master secret. */
    isRandom: boolean;
    protection: Protection;
    /** The entry of the keychain that holds the master secret; null for the other methods. */
    entry: string | null;
}
/** Seals and opens the named secrets of one store. Holds the key in memory alone. */
export declare class Protection {
    #private;
    constructor(key: Buffer);
    /** Seals bytes under a name: AES-256-GCM, nonce ‖ ciphertext ‖ tag, the name authenticated. */
    seal(name: string, secret: Uint8Array): Buffer;
    /** Opens what `seal` made under the same name; null when it was not, or was changed. */
    open(name: string, sealed: Uint8Array): Buffer | null;
}
/** A protection to be made. */
export type Wanted = {
    method: 'passphrase';
    passphrase: string;
} | {
    method: 'keychain';
} | {
    method: 'none';
};
/**
 * Makes a new protection, and the row that lets it be opened again.
 * @returns `opener`: what opens it. For the keychain, the caller keeps it in the entry that
 *   `entryOf(row)` names
 */
export declare function createProtection(wanted: Wanted): Promise<{
    held: Held;
    row: ProtectionTable;
    opener: string;
}>;
/**
 * Puts a random master secret into a protection of before, whose outer seal stays as it is: what
 * opens it goes on opening it, and is not stretched again.
 * @param held as `openProtection` gave it for this row
 */
export declare function addMaster(row: ProtectionTable, held: Held): {
    held: Held;
    row: ProtectionTable;
};
/**
 * Says what a row's protection is.
 * @throws OperatorError `store-corrupt` when the row is not as it was written
 */
export declare function methodOf(row: ProtectionTable): Method;
/**
 * Opens a store's protection: the one slow derivation of a start.
 * @param opener the passphrase, or the random secret of the other methods
 * @throws OperatorError `store-passphrase` when the passphrase is another one; `store-corrupt`
 *   when the row is not as it was written, or a kept secret is another one
 */
export declare function openProtection(opener: string, row: ProtectionTable): Promise<Held>;
/** The name of the keychain's entry for a row with the method `keychain`. */
export declare function entryOf({ salt }: {
    salt: Uint8Array;
}): string;
/** What opens a row with the method `none`: it stands beside what it opens. */
export declare function unprotectedSecret({ salt }: ProtectionTable): string;
/** True when two rows are the same protection. */
export declare function isSameProtection(a: ProtectionTable | null, b: ProtectionTable | null): boolean;
