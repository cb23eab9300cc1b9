import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
/** Notes, in the transaction that makes it so, that former versions of secrets are to be scrubbed. */
export declare function noteScrub(db: Kysely<Schema>): Promise<void>;
/** Whether a process died between such a transaction and the end of scrubbing. */
export declare function isScrubDue(db: Kysely<Schema>): Promise<boolean>;
/** Takes the note back, after scrubbing. */
export declare function forgetScrub(db: Kysely<Schema>): Promise<void>;
/**
 * Overwrites the write-ahead log of a database that is ours alone, after all that is in it was
 * brought into the database: former versions of its pages stand there until then. A crash at any
 * point leaves a log that is either whole or not taken for one, and needed no more.
 * @param file where the database lies
 * @throws an error of node:fs or node:sqlite
 */
export declare function scrubLog(database: DatabaseSync, file: string): void;
