/** Restores a backup to a data directory that holds no store. */
import { chmodSync, constants, copyFileSync, existsSync, statSync } from 'node:fs'
import { alter, whyNotCopied } from './backup.ts'
import { putInPlace, unfinishedIn } from './create.ts'
import { checkDataDir, makeDataDir } from './data-dir.ts'
import { FILE_MODE, syncFile } from './files.ts'
import { examine, look, whatIsThere } from './inspect.ts'
import { occupied, unsoundBackup } from './refusals.ts'
import { writeNote } from './restored.ts'

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
    copy(file, unfinished.file)
    if (!putInPlace(unfinished.file, dataDir)) throw occupied(dataDir)
  } catch (error) {
    throw whyNotCopied(error, dataDir)
  }
}

function copy(file: string, to: string): void {
  const { mtime } = statSync(file)
  copyFileSync(file, to, constants.COPYFILE_EXCL)
  chmodSync(to, FILE_MODE)
  alter(to, (database) => writeNote(database, mtime.toISOString()))
  look(to, examine)
  syncFile(to)
}
