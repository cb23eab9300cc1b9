import { Kysely, type Generated } from 'kysely';
/** A record of any kind. `n` in the table keeps the order in which entries were added. */
export interface Row {
    kind: string;
    owner: string;
    key: string;
    /** JSON, or bytes. */
    value: string | Uint8Array;
}
export interface WorldDatabase {
    records: Row & {
        n: Generated<number>;
    };
}
/** See `FilePersistence.open`. Checks everything before it opens the file for writing. */
export declare function openDatabase(file: string): Promise<{
    db: Kysely<WorldDatabase>;
    rows: Row[];
}>;
/** Turns an error of SQLite or of the file system into one for the operator. */
export declare function toOperatorError(error: unknown, file: string): unknown;
