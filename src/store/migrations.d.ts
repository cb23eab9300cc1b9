import { type Kysely } from 'kysely';
/**
 * One step of the schema. Steps run in order and are never changed once released; the number of
 * steps that ran is the store's version (`PRAGMA user_version`).
 */
export interface SchemaStep {
    /** Sorts behind every earlier name. */
    name: string;
    up(db: Kysely<unknown>): Promise<void>;
}
/** Every step there is. */
export declare const MIGRATIONS: readonly SchemaStep[];
/** The first version whose keys are not locked under the passphrase itself. */
export declare const MASTER_SECRET_VERSION: number;
