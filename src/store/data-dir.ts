import { chmodSync, lstatSync, mkdirSync, statSync, type Stats } from 'node:fs'
import { errnoOf, DIR_MODE, FILE_MODE } from './files.ts'
import { unfit, unwritable } from './refusals.ts'

/**
 * Makes the directory when it is not there (mode 0700; missing parents by the umask), and sees
 * that it is ours alone.
 * @throws OperatorError `data-dir`: not a directory, another user's, or open to others and
 *   impossible to close; `store-unwritable`: it cannot be made
 */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: DIR_MODE })
  } catch (error) {
    if (stat(dataDir)?.isDirectory() === false) throw notADirectory(dataDir)
    const errno = errnoOf(error) ?? 'unknown'
    if (errno === 'ENOTDIR' || errno === 'EEXIST') throw notADirectory(dataDir)
    throw unwritable(dataDir, errno, error)
  }
  checkDataDir(dataDir)
}

/**
 * Sees that an existing directory is ours alone, and takes others' rights away where it can.
 * Gives false when it is not there.
 * @throws OperatorError `data-dir`, as `makeDataDir` does
 */
export function checkDataDir(dataDir: string): boolean {
  const before = stat(dataDir)
  if (before === null) return false
  if (!before.isDirectory()) throw notADirectory(dataDir)
  if (isForeign(before)) {
    throw unfit(
      `${dataDir} belongs to another user (uid ${before.uid})`,
      'run Postern as that user, or give it a `dataDir` of its own',
    )
  }
  closeToOthers(dataDir, before, DIR_MODE)
  return true
}

/**
 * Sees that a file of the store is a plain file and ours alone; mends its mode where it can.
 * @throws OperatorError `data-dir`
 */
export function checkFile(file: string): void {
  const found = lstatSync(file)
  if (!found.isFile()) {
    throw unfit(`${file} is not a plain file`, 'put the store’s own file back in its place')
  }
  if (isForeign(found)) {
    throw unfit(
      `${file} belongs to another user (uid ${found.uid})`,
      'run Postern as that user, or give the file back to the user who runs it',
    )
  }
  closeToOthers(file, found, FILE_MODE)
}

function closeToOthers(path: string, found: Stats, wanted: number): void {
  if (mode(found) === wanted) return
  try {
    chmodSync(path, wanted)
  } catch {
    // what could not be mended shows in the mode that is read back
  }
  const left = mode(statSync(path))
  if ((left & 0o077) !== 0) {
    throw unfit(
      `${path} is open to other users (mode ${left.toString(8)}) and that cannot be mended`,
      'put `dataDir` on a file system that keeps permissions, with mode 0700',
    )
  }
}

/** Systems without user ids have no answer, and no other user to fear by this measure. */
function isForeign(found: Stats): boolean {
  const me = process.getuid?.()
  return me !== undefined && found.uid !== me
}

function notADirectory(dataDir: string): Error {
  return unfit(`${dataDir} is not a directory`, 'name a directory as `dataDir`')
}

function stat(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null
}

const mode = (found: Stats) => found.mode & 0o777
