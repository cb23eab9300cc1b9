/** Copies the whole store into one file, while it is in use. */
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { OperatorError } from '../errors.ts'
import { openExisting, type ProtectionRequest } from './choose.ts'
import { COPY } from './create.ts'
import { createEmpty, errnoOf, syncDirectory } from './files.ts'
import { examine, look, readProtection } from './inspect.ts'
import { corrupt, unsoundBackup, unwritable } from './refusals.ts'
import { readNote, writeNote } from './restored.ts'
import type { ProtectionMethod, ProtectionTable } from './schema.ts'
import { isDiskFailure, isStorageFailure, resultCode } from './sqlite.ts'

/** Pages that are copied in one go; the process does other things in between. */
const PAGES = 512

/**
 * Copies an open database, pages as they are, into a file of its own beside it, and notes in the
 * copy that it is one. Call while nothing else uses the connection.
 * @returns the file's path: mode 0600, on disk, for the caller to move or remove
 * @throws OperatorError `store-unwritable`; nothing is left then
 */
export function takeCopy(database: DatabaseSync, dataDir: string): Promise<string> {
  return makeCopy(dataDir, async (file) => {
    createEmpty(file)
    await backup(database, file, { rate: PAGES })
  })
}

/**
 * Has a copy of a store filled in a data directory, and notes in it that it is one.
 * @param fill makes the database file
 * @returns the file's path: mode 0600, on disk, for the caller to move or remove
 * @throws OperatorError `store-unwritable`, or the error of `fill`; nothing is left then
 */
export async function makeCopy(
  dataDir: string,
  fill: (file: string) => Promise<void>,
): Promise<string> {
  const file = join(dataDir, `${COPY}${randomUUID()}`)
  const takenAt = new Date().toISOString()
  try {
    await fill(file)
    alter(file, (copy) => writeNote(copy, takenAt))
    syncDirectory(dataDir)
    return file
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
    const reason = errnoOf(error) ?? (isStorageFailure(error) ? 'SQLite failed' : null)
    throw reason === null ? error : unwritable(dataDir, reason, error)
  }
}

/** Changes a database that nobody else has open. It is one file afterwards, with no WAL. */
export function alter(file: string, change: (database: DatabaseSync) => void): void {
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'rw')
  const database = new DatabaseSync(url)
  try {
    database.exec('PRAGMA locking_mode=EXCLUSIVE')
    database.exec('PRAGMA journal_mode=DELETE')
    database.exec('PRAGMA synchronous=FULL')
    change(database)
  } finally {
    database.close()
  }
}

/** A key as a backup holds it. */
export interface KeptKey {
  fingerprint: string
  state: string
  /** Empty when it is destroyed. */
  locked: string
}

/** The contents of a backup. */
export interface Backup {
  /** ISO 8601, UTC; null for a database that was copied by other means. */
  takenAt: string | null
  bytes: number
  /** Steps of the schema; a store that is restored from it is brought to ours when it opens. */
  version: number
  /** Null when it has no protection, and no secrets. */
  method: ProtectionMethod | null
  masterSecret: string | null
  keys: KeptKey[]
  /** Rows of each table. */
  counts: Record<string, number>
}

/**
 * Reads a backup and opens its protection and its sealed secrets, changing nothing.
 * @throws OperatorError `failed` when it is no sound backup; `store-older`, `store-newer`,
 *   `store-locked`, `store-passphrase`, `keychain`
 */
export async function readBackup(file: string, request: ProtectionRequest): Promise<Backup> {
  try {
    const { protection, sealed, ...content } = look(file, (database) => contentOf(database, file))
    if (protection === null) return { ...content, method: null, masterSecret: null }
    const held = await openExisting(protection, request)
    for (const { name, bytes } of sealed) {
      if (held.sealer.open(name, bytes) === null) throw corrupt('a sealed secret was changed')
    }
    return { ...content, method: held.method, masterSecret: held.masterSecret }
  } catch (error) {
    throw unsound(error, file)
  }
}

/** The part of a backup that can be read before its protection is open. */
interface BackupContent extends Omit<Backup, 'method' | 'masterSecret'> {
  protection: ProtectionTable | null
  sealed: { name: string; bytes: Uint8Array }[]
}

function contentOf(database: DatabaseSync, file: string): BackupContent {
  const { version } = examine(database)
  return {
    takenAt: readNote(database),
    bytes: statSync(file).size,
    version,
    protection: readProtection(database),
    sealed: rows(database, 'SELECT name, sealed FROM secrets').map((row) => ({
      name: String(row['name']),
      bytes: row['sealed'] as Uint8Array,
    })),
    keys: rows(database, 'SELECT * FROM own_keys ORDER BY created_at DESC').map((row) => ({
      fingerprint: String(row['fingerprint']),
      state: String(row['state']),
      locked: String(row['locked']),
    })),
    counts: countsOf(database),
  }
}

/** Rows of every table of ours. */
function countsOf(database: DatabaseSync): Record<string, number> {
  const tables = rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")
  const names = tables.map(({ name }) => String(name))
  const ours = names.filter((name) => /^(?!sqlite_)[a-z_]+$/.test(name))
  const count = (name: string) => rows(database, `SELECT count(*) AS n FROM ${name}`)[0]?.['n']
  return Object.fromEntries(ours.map((name) => [name, Number(count(name))]))
}

function rows(database: DatabaseSync, query: string): Record<string, unknown>[] {
  return database.prepare(query).all()
}

/** Turns an error of reading a backup into a refusal that names the file. */
function unsound(error: unknown, file: string): unknown {
  if (error instanceof OperatorError) {
    return error.code === 'store-corrupt' ? unsoundBackup(file, error.message, error) : error
  }
  const errno = errnoOf(error)
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return unsoundBackup(file, 'there is no such file')
  if (errno !== null) return unsoundBackup(file, `it cannot be read (${errno})`, error)
  if (resultCode(error) === null) return error
  if (!existsSync(file)) return unsoundBackup(file, 'there is no such file', error)
  return isDiskFailure(error)
    ? unsoundBackup(file, 'it cannot be read by this user, or from this disk', error)
    : unsoundBackup(file, 'it is not a database', error)
}
