import { DatabaseSync } from 'node:sqlite';
import { type Wish } from './choose.ts';
import type { Method } from './protection.ts';
/**
 * Copies an open database, pages as they are, into a file of its own beside it, and notes in the
 * copy that it is one. Call while nothing else uses the connection.
 * @returns the file's path: mode 0600, on disk, for the caller to move or remove
 * @throws OperatorError `store-unwritable`; nothing is left then
 */
export declare function takeCopy(database: DatabaseSync, dataDir: string): Promise<string>;
/** Changes a database that nobody else has: one file, with no WAL beside it afterwards. */
export declare function alter(file: string, change: (database: DatabaseSync) => void): void;
/** A key as a backup holds it. */
export interface KeptKey {
    fingerprint: string;
    state: string;
    /** Empty when it is destroyed. */
    locked: string;
}
/** What a backup holds. */
export interface Backup {
    /** ISO 8601, UTC; null for a database that was copied by other means. */
    takenAt: string | null;
    bytes: number;
    /** Steps of the schema; a store that is restored from it is brought to ours when it opens. */
    version: number;
    /** Null when it has no protection, and no secrets. */
    method: Method | null;
    masterSecret: string | null;
    keys: KeptKey[];
    /** Rows of each table. */
    counts: Record<string, number>;
}
/**
 * Reads a backup and opens its protection and its sealed secrets, changing nothing.
 * @throws OperatorError `failed` when it is no sound backup; `store-newer`, `store-locked`,
 *   `store-passphrase`, `keychain`
 */
export declare function readBackup(file: string, wish: Wish): Promise<Backup>;
