/**
 * Reads an entry.
 * @param account its name, `protection.ts` makes it
 * @returns null when the keychain can be used and has no such entry
 * @throws OperatorError `keychain`; `store-locked` when the keychain is locked
 */
export declare function readEntry(account: string): Promise<string | null>;
/**
 * Writes an entry, and reads it back.
 * @throws OperatorError `keychain`, also when another value was read; `store-locked`
 */
export declare function writeEntry(account: string, secret: string): Promise<void>;
/** Removes an entry. @throws OperatorError `keychain`, `store-locked` */
export declare function removeEntry(account: string): Promise<void>;
/**
 * Sees whether the keychain keeps things, by an entry that is gone when this returns.
 * @throws OperatorError `keychain`, `store-locked`
 */
export declare function tryKeychain(): Promise<void>;
