import type { DatabaseSync } from 'node:sqlite';
import { SqliteDialect, type DialectAdapter } from 'kysely';
/** Kysely's SQLite dialect on a connection of node:sqlite. */
export declare class NodeSqliteDialect extends SqliteDialect {
    constructor(database: DatabaseSync);
    createAdapter(): DialectAdapter;
}
