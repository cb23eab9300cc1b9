import { type Held, type Method, type Wanted } from './protection.ts';
import type { ProtectionTable } from './schema.ts';
/** What is asked of a store's protection. */
export interface Wish {
    /** The passphrase that settings give, or null. */
    passphrase: string | null;
    /** Setting `key.protection`; `auto` when absent. */
    protection?: 'auto' | Method | undefined;
    /** A store without any protection will not do: there are secrets to keep. */
    isRequired?: boolean;
    /** The store must rest under just what the setting says. Otherwise whatever it has is taken. */
    isBinding?: boolean;
    /** Commands that make a passphrase, for when nothing else is possible. */
    howToMakePassphrase?: string | undefined;
}
/**
 * Chooses for a store that has none yet: what the setting says, or under `auto` the first that is
 * possible, which is never `none`.
 * @returns null when nothing was asked for and nothing is required
 * @throws OperatorError `settings`, `keychain`, `store-locked`
 */
export declare function chooseProtection(wish: Wish): Promise<Wanted | null>;
/**
 * Opens what a store has.
 * @throws OperatorError `protection` when it has another than the wish binds it to; `store-locked`,
 *   `store-passphrase`, `store-corrupt`, `keychain`
 */
export declare function openExisting(row: ProtectionTable, wish: Wish): Promise<Held>;
/** A protection that is made but not in use: its row is to be written, or `discard` called. */
export interface Prepared {
    held: Held;
    row: ProtectionTable;
    /** Takes back what was made for it outside the store. Never rejects. */
    discard(): Promise<void>;
}
/**
 * Makes a new protection; what opens it is in the keychain, and was read back, when this resolves
 * with one of that method.
 * @throws OperatorError `keychain`, `store-locked`
 */
export declare function prepare(wanted: Wanted): Promise<Prepared>;
