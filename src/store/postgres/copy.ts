import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { alter } from '../backup.ts'
import { COPY } from '../create.ts'
import { fillFile } from '../fill.ts'
import { errnoOf, syncDirectory } from '../files.ts'
import { unwritable } from '../refusals.ts'
import { writeNote } from '../restored.ts'
import { isStorageFailure } from '../sqlite.ts'
import { withRows } from './rows.ts'
import type { PostgresServer } from './server.ts'

/**
 * Copies a store, as it is at one moment, into a database file in a data directory, which is a
 * backup like any other (`Store.copy`).
 * @returns the file's path: mode 0600, on disk, for the caller to move or remove
 * @throws OperatorError `store-unwritable`; nothing is left then. An error of pg
 */
export async function copyToFile(
  server: PostgresServer,
  schema: string,
  dataDir: string,
): Promise<string> {
  const file = join(dataDir, `${COPY}${randomUUID()}`)
  try {
    const takenAt = new Date().toISOString()
    await withRows(server, schema, (rows) => fillFile(file, rows))
    alter(file, (copy) => writeNote(copy, takenAt))
    syncDirectory(dataDir)
    return file
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
    const reason = errnoOf(error) ?? (isStorageFailure(error) ? 'SQLite failed' : null)
    throw reason === null ? error : unwritable(dataDir, reason, error)
  }
}
