import { existsSync, readdirSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { botIn, ARRIVING, MOVED_TO, parseMark, type MoveMark } from './flags.ts'
import { FIRST_VERSION, NEWEST_VERSION } from './migrations.ts'
import { inUse } from './owner.ts'
import { corrupt, newer, older, unwritable } from './refusals.ts'
import type { ProtectionTable } from './schema.ts'
import { APPLICATION_ID, connectReading, connectStill, pragma } from './sqlite.ts'
import { isBusy, isDiskFailure, resultCode } from './sqlite.ts'

/** The database, and the marker file that proves that there was one. */
export const DATABASE = 'postern.db'
export const MARKER = 'store.json'

/** The state of an existing database. */
export type FileState = ReturnType<typeof examine>

/** `database`: there is one; `traces`: there was one; `none`: nothing shows that there ever was. */
export function whatIsThere(dataDir: string): 'database' | 'traces' | 'none' {
  if (existsSync(join(dataDir, DATABASE))) return 'database'
  if (!existsSync(dataDir)) return 'none'
  const traces = readdirSync(dataDir).some(
    (name) => name === MARKER || name.startsWith(`${DATABASE}-`) || isCopy(name),
  )
  return traces ? 'traces' : 'none'
}

/** Names of the copies in a data directory that were made before an upgrade (`migrate.ts`). */
export const copiesIn = (dataDir: string): string[] =>
  readdirSync(dataDir).filter(isCopy).toSorted()

const isCopy = (name: string): boolean => /^postern\.v\d+\./.test(name)

/**
 * Inspects the database of a data directory without changing a byte of it, also while it is in use.
 * @throws OperatorError `store-in-use`, `store-corrupt`, `store-older`, `store-newer`,
 *   `store-unwritable`
 */
export const inspect = (dataDir: string): FileState =>
  lookInto(dataDir, (database) => examine(database, BUT_SEEN))

function lookInto<T>(dataDir: string, read: (database: DatabaseSync) => T): T {
  try {
    return look(join(dataDir, DATABASE), read)
  } catch (error) {
    throw explain(error, dataDir)
  }
}

/** Reads a database file, and leaves neither a change nor a new file behind. */
export function look<T>(file: string, read: (database: DatabaseSync) => T): T {
  if (existsSync(`${file}-wal`)) return lookBesideWal(file, read)
  try {
    using database = connectStill(file)
    return read(database)
  } catch (error) {
    // Another process has begun to write since: the failed read is no evidence of damage.
    if (existsSync(`${file}-wal`)) return lookBesideWal(file, read)
    throw error
  }
}

function lookBesideWal<T>(file: string, read: (database: DatabaseSync) => T): T {
  const shared = `${file}-shm`
  const wasShared = existsSync(shared)
  try {
    using database = connectReading(file)
    return read(database)
  } finally {
    if (!wasShared) rmSync(shared, { force: true })
  }
}

/** Turns a failure of SQLite while opening into the refusal that it means; others stay. */
export function explain(error: unknown, dataDir: string): unknown {
  const code = resultCode(error)
  if (isBusy(error)) return inUse(dataDir)
  if (isDiskFailure(error)) return unwritable(dataDir, `SQLite’s result is ${code}`, error)
  return code === null ? error : corrupt('its file is not a sound database', error)
}

/** A start must not grow with the memory against replays: damage there shows when it is read. */
const BUT_SEEN = `SELECT DISTINCT quick_check FROM sqlite_schema AS one, pragma_quick_check(one.name)
  WHERE one.type = 'table' AND one.name <> 'seen'`

/**
 * Sees that a database is ours, sound, and of a version that we know.
 * @param check of all tables when not given
 * @returns `version` is `PRAGMA user_version` (`migrations.ts`); null is `protection` of a store that
 *   was never protected, `mark` but where a move has left it or has not ended, `botId` where nobody
 *   has run on it yet
 * @throws OperatorError `store-corrupt`, `store-older`, `store-newer`; an error of node:sqlite
 */
export function examine(database: DatabaseSync, check = 'PRAGMA quick_check(1)') {
  const version = pragma(database, 'user_version')
  if (pragma(database, 'application_id') !== APPLICATION_ID || version < 1) {
    throw corrupt('its file is not a database of Postern')
  }
  if (version < FIRST_VERSION) throw older(version, FIRST_VERSION)
  if (version > NEWEST_VERSION) throw newer(version, NEWEST_VERSION)
  const checked = database.prepare(check).all()
  if (checked.length !== 1 || Object.values(checked[0] ?? {})[0] !== 'ok') {
    throw corrupt('it does not pass SQLite’s check')
  }
  const protection = readProtection(database)
  if (protection === null && holdsSecrets(database)) {
    throw corrupt('the record of its protection is gone')
  }
  return { version, protection, mark: markIn(database), botId: botIn(database) }
}

/**
 * The mark that a move has left in the database of a data directory; null when there is none.
 * @throws OperatorError as `inspect` does
 */
export const readMarkOf = (dataDir: string): MoveMark | null => lookInto(dataDir, markIn)

/** The same of a database that is open. */
export function markIn(database: DatabaseSync): MoveMark | null {
  const query = 'SELECT name, value FROM flags WHERE name IN (?, ?)'
  const row = database.prepare(query).get(ARRIVING, MOVED_TO)
  if (row === undefined) return null
  return parseMark({ name: String(row['name']), value: String(row['value']) })
}

/** The record of the store's protection, or null when it never had one. */
export function readProtection(database: DatabaseSync): ProtectionTable | null {
  const row = database.prepare('SELECT * FROM protection WHERE id = 1').get()
  return row === undefined ? null : (row as unknown as ProtectionTable)
}

function holdsSecrets(database: DatabaseSync): boolean {
  const query = 'SELECT 1 FROM secrets UNION ALL SELECT 1 FROM own_keys LIMIT 1'
  return database.prepare(query).get() !== undefined
}
