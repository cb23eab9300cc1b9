import { DatabaseSync } from 'node:sqlite';
/** `PRAGMA application_id` of our database: "PstN". */
export declare const APPLICATION_ID = 1349743694;
/**
 * Opens an existing database to look at it. Nothing that it holds is changed, not even by closing:
 * a connection that cannot write never checkpoints a WAL that a killed process left behind. Beside
 * it, SQLite may make an empty `-wal` and a `-shm`.
 * @throws an error of node:sqlite; opening is lazy, so most come with the first query
 */
export declare function connectReading(file: string): DatabaseSync;
/**
 * The same for a database that nobody has open and that has no WAL: takes no lock and makes no
 * file, so it also works where nothing can be written.
 */
export declare function connectStill(file: string): DatabaseSync;
/**
 * Opens an existing database as its only user and keeps it locked until it is closed.
 * Writes are on disk when their COMMIT returns (WAL, synchronous=FULL).
 * @throws an error of node:sqlite: `isBusy` when another process holds it
 */
export declare function connectExclusive(file: string): DatabaseSync;
/** The number that a pragma gives. */
export declare function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number;
/** SQLite's primary result code (sqlite.org/rescode.html), or null for any other error. */
export declare function resultCode(error: unknown): number | null;
/** Another connection holds the lock. */
export declare function isBusy(error: unknown): boolean;
/** The disk or its permissions are at fault, not the bytes. */
export declare function isDiskFailure(error: unknown): boolean;
/** The storage failed, as opposed to a statement that was wrong or broke a constraint. */
export declare function isStorageFailure(error: unknown): boolean;
