import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createEmpty, errnoOf, syncDirectory, writeDurably } from './files.ts'
import { DATABASE, MARKER } from './inspect.ts'
import { migrate } from './migrate.ts'
import { unfit } from './refusals.ts'
import { APPLICATION_ID, connectExclusive } from './sqlite.ts'

/** Prefix of the names of databases that are not in their place yet. */
export const UNFINISHED = `${DATABASE}.new-`
/** Prefix of the names of copies that the caller has not moved yet. */
export const COPY = 'postern.backup-'
const MARKER_FORMAT = 1

/**
 * Puts an empty database of the newest version in its place, whole: it is made under another name
 * and linked, so that neither a crash nor a second process can leave half of one, or replace one.
 * When another process was first, its database stays.
 * @throws an error of node:fs or node:sqlite; OperatorError `data-dir`
 */
export function createDatabase(dataDir: string): void {
  using unfinished = unfinishedIn(dataDir)
  newDatabase(unfinished.file).close()
  putInPlace(unfinished.file, dataDir)
}

/** Makes and opens a database of the newest version in a new file. */
export function newDatabase(file: string): DatabaseSync {
  createEmpty(file)
  const database = connectExclusive(file)
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  migrate(database, file)
  return database
}

/** A new name for a database that is not in its place yet; disposing removes what has it still. */
export function unfinishedIn(dataDir: string): { file: string } & Disposable {
  const file = join(dataDir, `${UNFINISHED}${randomUUID()}`)
  return { file, [Symbol.dispose]: () => removeDatabase(file) }
}

/** Removes a database file with its log, where there are any. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
}

/**
 * Writes the marker, which proves for good that a store is here, and removes remains of interrupted
 * creations and backups. Call while holding the database.
 */
export function settle(dataDir: string): void {
  const marker = join(dataDir, MARKER)
  if (!existsSync(marker)) {
    const content = { id: randomUUID(), createdAt: new Date().toISOString(), format: MARKER_FORMAT }
    writeDurably(marker, `${JSON.stringify(content)}\n`)
  }
  clearUnfinished(dataDir)
}

/** Removes remains of interrupted creations and backups. */
export function clearUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const isLeft = name.startsWith(UNFINISHED) || name.startsWith(COPY)
    if (isLeft) rmSync(join(dataDir, name), { force: true })
  }
}

/**
 * Gives a finished database its name, atomically; the name is on disk when this returns.
 * @returns false when another one has it, which stays
 * @throws an error of node:fs; OperatorError `data-dir`
 */
export function putInPlace(unfinished: string, dataDir: string): boolean {
  const place = join(dataDir, DATABASE)
  try {
    linkSync(unfinished, place)
  } catch (error) {
    const errno = errnoOf(error)
    if (existsSync(place)) return false
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'ENOSYS') throw error
    throw unfit(
      'the file system of `dataDir` has no hard links',
      'put `dataDir` on a local file system',
    )
  }
  syncDirectory(dataDir)
  return true
}
