/** Copies the whole store into one file, while it is in use, reads such a file, and restores it. */
import { randomUUID } from 'node:crypto'
import { chmodSync, constants, copyFileSync, existsSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../errors.ts'
import { openExisting, type ProtectionRequest } from './choose.ts'
import { COPY, putInPlace, removeDatabase, unfinishedIn } from './create.ts'
import { checkDataDir, makeDataDir } from './data-dir.ts'
import { createEmpty, errnoOf, FILE_MODE, syncDirectory, syncFile } from './files.ts'
import { examine, look, readProtection, whatIsThere } from './inspect.ts'
import { occupied, unsoundBackup, unwritable } from './refusals.ts'
import { readNote, writeNote } from './flags.ts'
import type { SchemaRow } from './schema.ts'
import { connectExclusive, isDiskFailure, isStorageFailure, resultCode } from './sqlite.ts'

/** Bytes that are read, and written, in one go. */
const CHUNK = 2 ** 20
/** Bytes between two flushes of a copy: unflushed bytes delay every other flush on the disk. */
const UNSYNCED = 16 * CHUNK
/**
 * Bytes that SQLite locks: it keeps nothing there, and Windows refuses to read them
 * (sqlite.org/fileformat.html, "The Lock-Byte Page").
 */
const LOCK_BYTES = { at: 2 ** 30, length: 512 }

/**
 * Copies a database file, which must not change meanwhile and stays open, into a new file.
 * @param to mode 0600, and on disk when this resolves
 * @throws an error of node:fs
 */
export async function copyDatabase(database: FileHandle, to: string): Promise<void> {
  createEmpty(to)
  await using copy = await open(to, 'r+')
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (let at = 0, bytes = 1; bytes > 0; at += bytes) {
    if (at === LOCK_BYTES.at) at += LOCK_BYTES.length
    const { bytesRead } = await database.read(chunk, 0, CHUNK - (at % CHUNK), at)
    bytes = (await copy.write(chunk, 0, bytesRead, at)).bytesWritten
    if (at % UNSYNCED === 0) await copy.datasync()
  }
  await copy.sync()
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
    removeDatabase(file)
    throw copyErrorOf(error, dataDir)
  }
}

/** The refusal for an error of the disk; any other as it is. */
function copyErrorOf(error: unknown, dataDir: string): unknown {
  const reason = errnoOf(error) ?? (isStorageFailure(error) ? 'SQLite failed' : null)
  return reason === null ? error : unwritable(dataDir, reason, error)
}

/** Changes a database that nobody else has open. It is one file afterwards, with no WAL. */
export function alter(file: string, change: (database: DatabaseSync) => void): void {
  using database = connectExclusive(file)
  database.exec('PRAGMA journal_mode=DELETE')
  change(database)
}

/**
 * Reads a backup and opens its protection and its sealed secrets, changing nothing.
 * @returns `method` is null when it has no protection, and no secrets
 * @throws OperatorError `failed` when it is no sound backup; `store-older`, `store-newer`,
 *   `store-locked`, `store-passphrase`, `keychain`
 */
export async function readBackup(file: string, request: ProtectionRequest) {
  try {
    const { protection, secrets, ...content } = look(file, (database) => contentOf(database, file))
    if (protection === null) return { ...content, method: null, masterSecret: null }
    const held = await openExisting(protection, request)
    for (const { name, sealed } of secrets) held.sealer.unseal(name, sealed)
    return { ...content, method: held.method, masterSecret: held.masterSecret }
  } catch (error) {
    throw unsound(error, file)
  }
}

/** The part of a backup that can be read before its protection is open. */
function contentOf(database: DatabaseSync, file: string) {
  const { version } = examine(database)
  return {
    /** ISO 8601, UTC; null for a database that was copied by other means. */
    takenAt: readNote(database),
    bytes: statSync(file).size,
    /** Steps of the schema; a store that is restored from it is brought to ours when it opens. */
    version,
    protection: readProtection(database),
    secrets: rows(database, 'SELECT * FROM secrets') as SchemaRow<'secrets'>[],
    /** `locked` is empty in those that are destroyed. */
    keys: rows(
      database,
      'SELECT fingerprint, state, locked FROM own_keys ORDER BY created_at DESC',
    ) as Pick<SchemaRow<'own_keys'>, 'fingerprint' | 'state' | 'locked'>[],
    /** Rows of each table. */
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

const rows = (database: DatabaseSync, query: string): Record<string, unknown>[] =>
  database.prepare(query).all()

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

/**
 * Refuses a directory that a backup may not go into: one that holds a store, or traces of one.
 * @throws OperatorError `refused`, `data-dir`
 */
export function refuseOccupied(dataDir: string): void {
  if (checkDataDir(dataDir) && whatIsThere(dataDir) !== 'none') throw occupied(dataDir)
}

/**
 * Restores a backup that `readBackup` has found sound. Its database appears in one step, whole, or
 * not at all; it carries the note that it was restored.
 * @throws OperatorError `refused` when a store is there, or appears; `data-dir`,
 *   `store-unwritable`; `failed` when the copy is not sound
 */
export function restore(file: string, dataDir: string): void {
  if (existsSync(`${file}-wal`)) {
    throw unsoundBackup(file, 'a log lies beside it (-wal), so it is a store and no backup of one')
  }
  refuseOccupied(dataDir)
  makeDataDir(dataDir)
  try {
    using unfinished = unfinishedIn(dataDir)
    copyIn(file, unfinished.file)
    if (!putInPlace(unfinished.file, dataDir)) throw occupied(dataDir)
  } catch (error) {
    throw copyErrorOf(error, dataDir)
  }
}

function copyIn(file: string, to: string): void {
  const { mtime } = statSync(file)
  copyFileSync(file, to, constants.COPYFILE_EXCL)
  chmodSync(to, FILE_MODE)
  alter(to, (database) => writeNote(database, mtime.toISOString()))
  look(to, examine)
  syncFile(to)
}
