import type { DatabaseSync } from 'node:sqlite';
import type { SchemaStep } from './migrations.ts';
/**
 * Brings a database to the newest schema, all steps or none; `PRAGMA user_version` ends as the
 * number of steps. Before an existing store is changed, a copy of it is left beside it as
 * `postern.v<version>.<time>.db`, which stays until the operator removes it.
 * @param file where `database` lies
 * @returns the copy's path, or null when none was needed
 * @throws whatever a step or the disk throws; the database is then as it was
 */
export declare function migrate(database: DatabaseSync, file: string, steps: readonly SchemaStep[]): Promise<string | null>;
