import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Kysely, SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely'
import { countedCache } from '../util/caches.ts'
import type { Schema } from './schema.ts'

/** `PRAGMA application_id` of our database: "PstN". */
export const APPLICATION_ID = 0x50_73_74_4e

/** How long opening waits for another process's lock before it fails. */
const LOCK_WAIT_MS = 500

/**
 * Opens an existing database for reading. Its content does not change, not even by closing:
 * a connection that cannot write never checkpoints a WAL that a killed process left behind. Beside
 * it, SQLite may make an empty `-wal` and a `-shm`.
 * @throws an error of node:sqlite; opening is lazy, so most are thrown by the first query
 */
export const connectReading = (file: string): DatabaseSync =>
  new DatabaseSync(pathToFileURL(file), { readOnly: true, timeout: LOCK_WAIT_MS })

/**
 * The same for a database that no process has open and that has no WAL: acquires no lock and
 * creates no file, so it also works where nothing can be written.
 */
export function connectStill(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true })
}

/**
 * Opens an existing database as its only user and keeps it locked until it is closed.
 * Writes are on disk when their COMMIT returns (WAL, synchronous=FULL).
 * @throws an error of node:sqlite: `isBusy` when another process holds it
 */
export function connectExclusive(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'rw')
  const database = new DatabaseSync(url, { timeout: LOCK_WAIT_MS, defensive: true })
  try {
    database.exec('PRAGMA locking_mode=EXCLUSIVE')
    database.exec('PRAGMA journal_mode=WAL')
    database.exec('PRAGMA synchronous=FULL')
    database.exec('PRAGMA foreign_keys=ON')
    database.exec('PRAGMA trusted_schema=OFF')
    database.exec('PRAGMA cell_size_check=ON')
    database.exec('PRAGMA temp_store=MEMORY')
    // a destroyed key's bytes do not stay behind in free pages
    database.exec('PRAGMA secure_delete=ON')
    database.exec('BEGIN IMMEDIATE')
    database.exec('COMMIT')
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/** The number that a pragma gives. */
export const pragma = (database: DatabaseSync, name: 'user_version' | 'application_id'): number =>
  Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0])

/** SQLite's primary result code (sqlite.org/rescode.html), or null for any other error. */
export function resultCode(error: unknown): number | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null
}

/** BUSY, LOCKED. */
const HELD = [5, 6]
/** PERM, READONLY, IOERR, FULL, CANTOPEN. */
const OF_DISK = [3, 8, 10, 13, 14]
/** ERROR, CONSTRAINT, MISMATCH, MISUSE, RANGE. */
const OF_STATEMENT = [1, 19, 20, 21, 25]

/** Another connection holds the lock. */
export const isBusy = (error: unknown): boolean => HELD.includes(resultCode(error) ?? 0)

/** The disk or its permissions are at fault, not the bytes. */
export const isDiskFailure = (error: unknown): boolean => OF_DISK.includes(resultCode(error) ?? 0)

/** The storage failed, as opposed to a statement that was wrong or broke a constraint. */
export function isStorageFailure(error: unknown): boolean {
  const code = resultCode(error)
  return code !== null && !OF_STATEMENT.includes(code)
}

/**
 * Kysely over a database file, by its SQLite dialect on a connection of node:sqlite.
 * @param statements where those that are prepared are kept
 */
export const kyselyOf = (
  database: DatabaseSync,
  statements = preparedStatements(),
): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(database, statements) }) })

/** How many prepared statements are cached: preparing one is slower than running it. */
const KEPT = 100

export type PreparedStatements = ReturnType<typeof preparedStatements>

/** Prepared statements by their text. Those of a start are half of the memory of a bot at rest. */
export const preparedStatements = () => countedCache<string, SqliteStatement>(KEPT)

function adapt(database: DatabaseSync, kept: PreparedStatements): SqliteDatabase {
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
