import { chmodSync, lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { resultOr } from '../errors.ts'
import { describeClosedFolder, describeOtherOwner, quotePath } from '../util/file-owners.ts'
import { makeFolders } from '../util/folders.ts'
import { errnoOf, DIR_MODE, FILE_MODE } from './files.ts'
import { unfit, unwritable } from './refusals.ts'

/** Names of a sidecar's files in its data directory. */
const OURS =
  /^(?:postern\..+|store\.json|owner\.json|database\.json|control\.(?:sock|path)|sidecar\.lock|passphrase-salt|spool|bots)$/
/** Those of them that nothing else is called. */
const SURELY_OURS = /^(?:postern\.db|store\.json|database\.json|sidecar\.lock)$/
/** A folder of a new file system. */
const OF_THE_DISK = 'lost+found'

/**
 * Makes the directory when it is not there (mode 0700; missing parents by the umask), and sees that
 * it is ours alone. An existing one is accepted when a sidecar has used it, or when it is empty.
 * @throws OperatorError `data-dir`: not a directory, another user's, open to others, or holding
 *   something else; `store-unwritable`: it cannot be made
 */
export function makeDataDir(dataDir: string): void {
  try {
    const isMade = makeFolders(dataDir, DIR_MODE)
    if (isMade && (statSync(dataDir).mode & 0o777) !== DIR_MODE) chmodSync(dataDir, DIR_MODE)
  } catch (error) {
    const isOther = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false
    const errno = errnoOf(error) ?? 'unknown'
    if (isOther || errno === 'ENOTDIR' || errno === 'EEXIST') throw notADirectory(dataDir)
    throw unwritable(dataDir, errno, error)
  }
  checkDataDir(dataDir)
  if (useOf(dataDir) === 'other') throw holdsOthers(dataDir)
}

/**
 * Sees that an existing directory is ours alone. The mode of one that holds a store and nothing else is
 * mended; no other is changed. Gives false when it is not there.
 * @throws OperatorError `data-dir`, as `makeDataDir` does
 */
export function checkDataDir(dataDir: string): boolean {
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isDirectory()) throw notADirectory(dataDir)
  const other = describeOtherOwner(dataDir, found)
  if (other !== null) {
    if (resultOr(() => useOf(dataDir), null) === 'other') throw holdsOthers(dataDir)
    throw unfit(other.message, other.hint, exitCodeFor(dataDir))
  }
  const use = isOpen(found) ? useOf(dataDir) : null
  if (use === 'other') throw holdsOthers(dataDir)
  if (use === 'store') closeToOthers(dataDir, found, DIR_MODE)
  else if (use !== null) {
    throw unfit(
      `${dataDir} is open to other users (mode ${modeOf(found)})`,
      `\`chmod 700 ${quotePath(dataDir)}\` closes it, where it is yours alone`,
      exitCodeFor(dataDir),
    )
  }
  return true
}

/**
 * Sees that a file of the store, which only Postern writes, is a plain file and ours alone; mends its
 * mode where it can.
 * @throws OperatorError `data-dir`
 */
export function checkFile(file: string): void {
  const found = lstatSync(file)
  if (!found.isFile()) {
    throw unfit(`${file} is not a plain file`, 'put the store’s own file back in its place')
  }
  const other = describeOtherOwner(file, found)
  if (other !== null) throw unfit(other.message, other.hint)
  closeToOthers(file, found, FILE_MODE)
}

function closeToOthers(path: string, found: Stats, wanted: number): void {
  if ((found.mode & 0o777) === wanted) return
  // a failed change of the mode shows when the mode is read back
  resultOr(() => chmodSync(path, wanted), undefined)
  const left = statSync(path)
  if (isOpen(left)) {
    throw unfit(
      `${path} is open to other users (mode ${modeOf(left)}) and that cannot be mended`,
      'put `dataDir` on a file system that keeps permissions, with mode 0700',
    )
  }
}

/**
 * `store`: it holds a store, and only files of a sidecar; `shared`: files of a sidecar
 * and perhaps of others; `other`: nothing of a sidecar.
 */
function useOf(dataDir: string): 'store' | 'shared' | 'empty' | 'other' {
  let names: string[]
  try {
    names = readdirSync(dataDir).filter((name) => name !== OF_THE_DISK)
  } catch (error) {
    throw unwritable(dataDir, errnoOf(error) ?? 'unknown', error)
  }
  if (names.length === 0) return 'empty'
  if (!names.some((name) => OURS.test(name))) return 'other'
  const isStore = names.some((name) => SURELY_OURS.test(name))
  return isStore && names.every((name) => OURS.test(name)) ? 'store' : 'shared'
}

/** A folder in which no store can be is a wrong setting, and not a store that does not open. */
const exitCodeFor = (dataDir: string): 2 | 3 =>
  resultOr(() => (['store', 'shared'].includes(useOf(dataDir)) ? 3 : 2), 2)

function holdsOthers(dataDir: string): Error {
  const own = join(dataDir, 'postern')
  const how =
    describeClosedFolder(own)?.hint ??
    `make a folder of its own with \`mkdir -m 700 ${quotePath(own)}\``
  const problem = `${dataDir} holds other files, and no store`
  return unfit(problem, `${how}, and name that as \`dataDir\``, 2)
}

const isOpen = ({ mode }: Stats): boolean => process.getuid !== undefined && (mode & 0o077) !== 0

const notADirectory = (dataDir: string): Error =>
  unfit(`${dataDir} is not a directory`, 'name a directory as `dataDir`')

const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8)
