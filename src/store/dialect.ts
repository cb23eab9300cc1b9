import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Kysely, SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely'
import { countedCache } from '../util/caches.ts'
import type { Schema } from './schema.ts'

/** Kysely over a database file, by its SQLite dialect on a connection of node:sqlite. */
export const kyselyOf = (database: DatabaseSync): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(database) }) })

/** How many prepared statements are cached: preparing one is slower than running it. */
const KEPT = 100

function adapt(database: DatabaseSync): SqliteDatabase {
  const kept = countedCache<string, SqliteStatement>(KEPT)
  return {
    close() {
      if (database.isOpen) database.close()
    },
    prepare(sql) {
      // SQLite rolls back by itself when the disk is full; a second rollback would hide the reason
      if (sql === 'rollback' && !database.isTransaction) return nothing
      const known = kept.get(sql)
      if (known !== undefined) return known
      const statement = database.prepare(sql)
      const made: SqliteStatement = {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...values(parameters)),
        run: (parameters) => statement.run(...values(parameters)),
        iterate: (parameters) => statement.iterate(...values(parameters)),
      }
      kept.set(sql, made)
      return made
    },
  }
}

const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
}
