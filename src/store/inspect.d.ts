import type { DatabaseSync } from 'node:sqlite';
import type { ProtectionTable } from './schema.ts';
/** The database, and the marker that says that there was one. */
export declare const DATABASE = "postern.db";
export declare const MARKER = "store.json";
/** What an existing database says of itself. */
export interface Seen {
    /** How many steps of the schema ran. */
    version: number;
    /** Null when the store was never protected. */
    protection: ProtectionTable | null;
}
/** `database`: there is one; `traces`: there was one; `none`: nothing shows that there ever was. */
export declare function whatIsThere(dataDir: string): 'database' | 'traces' | 'none';
/** Names of the copies in a data directory that were made before an upgrade (`migrate.ts`). */
export declare function copiesIn(dataDir: string): string[];
/** Those of them whose keys are locked under the passphrase itself. */
export declare function weakCopiesIn(dataDir: string): string[];
/**
 * Looks at the database of a data directory without changing a byte of it, whoever holds it.
 * @param ours how many steps of the schema this program knows
 * @throws OperatorError `store-in-use`, `store-corrupt`, `store-newer`, `store-unwritable`
 */
export declare function inspect(dataDir: string, ours: number): Seen;
/** Reads a database file, and leaves neither a change nor a new file behind. */
export declare function look<T>(file: string, read: (database: DatabaseSync) => T): T;
/** Turns a failure of SQLite while opening into the refusal that it means; others stay. */
export declare function explain(error: unknown, dataDir: string): unknown;
/**
 * Sees that a database is ours, sound, and of a version that we know.
 * @throws OperatorError `store-corrupt`, `store-newer`; an error of node:sqlite
 */
export declare function examine(database: DatabaseSync, ours: number): Seen;
/** The record of the store's protection, or null when it never had one. */
export declare function readProtection(database: DatabaseSync): ProtectionTable | null;
