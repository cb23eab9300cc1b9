import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FILE_MODE } from '../files.ts'
import { claim, readOwner, release } from '../owner.ts'
import { inUse } from '../refusals.ts'
import { isBusy } from '../sqlite.ts'

const FILE = 'sidecar.lock'

/**
 * Keeps other sidecars out of a data directory whose store is elsewhere: its socket and its spool
 * are of one process. The lock is SQLite's, on an empty file, and ends with the process.
 * @throws OperatorError `store-in-use`; an error of node:fs or node:sqlite
 */
export function lockDataDir(dataDir: string): Disposable {
  const file = join(dataDir, FILE)
  closeSync(openSync(file, 'a', FILE_MODE))
  const lock = new DatabaseSync(file)
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw isBusy(error) ? inUse(dataDir, readOwner(dataDir)) : error
  }
  claim(dataDir)
  return {
    [Symbol.dispose]: () => {
      release(dataDir)
      lock.close()
    },
  }
}
