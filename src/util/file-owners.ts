/** Whether a file has changed, and which others than this user and root may write or replace one. */
import * as fs from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { resultOr, systemCodeOf } from '../errors.ts'

export const STICKY = 0o1000
const OTHERS_WRITE = 0o022
const ANYBODY_WRITES = 0o002
const GROUP_WRITES = 0o020

/**
 * Whether others cannot replace a folder by renaming: its parent is the owner's or root's, and
 * either closed to others' writing or, as /tmp is, sticky.
 */
export function isHeldFast(folder: string, owner: number): boolean {
  const found = fs.lstatSync(dirname(folder), { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return false
  if (process.getuid === undefined) return true
  const isTheirs = found.uid === owner || found.uid === 0
  return isTheirs && ((found.mode & OTHERS_WRITE) === 0 || (found.mode & STICKY) !== 0)
}

/** Makes a unix socket, with mode 0600 from the moment it exists. */
export const forOwnerAlone = <T>(makeSocket: () => T): T => withUmask(0o177, makeSocket)

/**
 * Makes a unix socket. Only within the call is the umask another one: it belongs to the whole process,
 * and other files must get their own modes.
 */
export function withUmask<T>(umask: number, makeSocket: () => T): T {
  const before = process.umask(umask)
  try {
    return makeSocket()
  } finally {
    process.umask(before)
  }
}

/** Metadata that change with each write of a file, read without its content; empty for none. */
export function lookOf(file: string | null): string {
  const found = resultOr(() => fs.statSync(file ?? ''), null)
  return found === null ? '' : [found.dev, found.ino, found.size, found.mtimeMs].join(':')
}

/** A path that others can change, and the command that revokes their right. */
export interface OthersRight {
  /** Goes on from the path: `belongs to user 1001`. */
  reason: string
  command: string
}

/**
 * Why others than this user and root may write a file or folder; null where none may, and on
 * systems without user ids. Links are followed.
 * @param o `sticky`: a folder where others may add entries, and not replace those of others, will do
 * @throws an error of node:fs
 */
export function othersRight(path: string, { sticky = false } = {}): OthersRight | null {
  const me = process.getuid?.()
  if (me === undefined) return null
  const found = fs.statSync(path)
  const quoted = quotePath(path)
  if (found.uid !== me && found.uid !== 0) {
    const reason = `belongs to user ${found.uid}, neither to this one (${me}) nor to root`
    return { reason, command: `sudo chown ${me} ${quoted}` }
  }
  if (!isWritableByOthers(found) || (sticky && (found.mode & STICKY) !== 0)) return null
  // Files mounted by Kubernetes may have mode 0777, and are read-only.
  if (isReadOnly(path)) return null
  const reason = `may be written by others (mode ${(found.mode & 0o7777).toString(8)})`
  return { reason, command: `chmod go-w ${quoted}` }
}

/** A right of others over a file that is read or run, and the command that ends it. */
export interface OthersChange {
  message: string
  hint: string
}

/**
 * Why a file is not read or run: users other than this one and root may write it, or replace it, or a
 * folder or link on the way to it. In a sticky folder, such as /tmp, only its owner can replace a file.
 * @returns null also for a missing file, and for a pipe
 */
export function describeOthersChange(path: string): OthersChange | null {
  if (process.getuid === undefined || !isFile(path)) return null
  const found = othersOnTheWay(path, MOST_LINKS)
  if (found === null) return null
  const where =
    found.path === path ? '' : `${found.isFolder ? 'lies in' : 'is'} ${found.path}, which `
  return { message: where + found.reason, hint: mend(found) }
}

/** The same of a folder whose files are all read: nobody else may add one. @returns as above */
export function describeOthersFolder(path: string): OthersChange | null {
  const right = fs.existsSync(path) ? othersRight(path) : null
  return right === null ? null : { message: right.reason, hint: mend(right) }
}

/** Of a program, as a shell finds it, and of the files that its arguments name by absolute paths. */
export function describeOthersProgram(
  [name = '', ...args]: readonly string[],
  searchPath: string | undefined,
): OthersChange | null {
  for (const path of [findProgram(name, searchPath), ...args.filter(isAbsolute)]) {
    const change = describeOthersChange(path)
    if (change !== null) return { ...change, message: `${path}: ${change.message}` }
  }
  return null
}

/** The path of a program; its name where it is not found, and on Windows. */
export function findProgram(name: string, searchPath = ''): string {
  if (process.getuid === undefined || name.includes('/')) return name
  const paths = searchPath.split(delimiter).map((folder) => join(resolve(folder), name))
  const mayRun = (path: string): boolean => accessProblem(path, fs.constants.X_OK) === null
  return paths.find((path) => isFile(path) && mayRun(path)) ?? name
}

/** As Linux follows at most. */
const MOST_LINKS = 40

type OnTheWay = OthersRight & { path: string; isFolder: boolean }

/** Folders first, so that the reason named is the one to correct first. */
function othersOnTheWay(path: string, links: number): OnTheWay | null {
  const folder = dirname(resolve(path))
  const above = folder === resolve(path) ? null : othersOnTheWay(folder, links)
  if (above !== null) return above
  const found = fs.lstatSync(path)
  if (!found.isSymbolicLink()) {
    const isFolder = found.isDirectory()
    const right = othersRight(path, { sticky: isFolder })
    return right && { ...right, path, isFolder }
  }
  const right = othersLink(path, found)
  if (right !== null) return { ...right, path, isFolder: false }
  if (links === 0) throw new Error('too many links')
  return othersOnTheWay(resolve(fs.realpathSync(folder), fs.readlinkSync(path)), links - 1)
}

function othersLink(path: string, { uid }: fs.Stats): OthersRight | null {
  if (uid === process.getuid?.() || uid === 0) return null
  return { reason: `is a link of user ${uid}`, command: `sudo rm ${quotePath(path)}` }
}

/**
 * Names the owner of a path who is another user, and how root gives the path to this one.
 * @returns null for a path of this user, and on systems without user ids
 */
export function describeOtherOwner(path: string, { uid }: fs.Stats): OthersChange | null {
  const me = process.getuid?.()
  if (me === undefined || uid === me) return null
  const give = `as root: \`chown -R ${me} ${quotePath(path)}\`, if all in it is Postern’s`
  return {
    message: `${path} belongs to user ${uid}, and Postern runs as user ${me}`,
    // Nothing of Postern needs root.
    hint: uid === 0 ? give : `run Postern as user ${uid}, or ${give}`,
  }
}

/**
 * Why this user may not use a folder, or make it: a right that is missing at the folder, or at the
 * nearest one above it.
 * @param path absolute; need not exist
 * @returns null where nothing shows why, on systems without user ids, and on a read-only disk
 */
export function describeClosedFolder(path: string): OthersChange | null {
  const me = process.getuid?.()
  const folder = nearestFolder(path)
  const found = fs.statSync(folder)
  const other = folder === path ? describeOtherOwner(path, found) : null
  if (other !== null || me === undefined) return other
  if (accessProblem(folder, fs.constants.W_OK | fs.constants.X_OK) !== 'EACCES') return null
  const mode = (found.mode & 0o7777).toString(8)
  return {
    message: `user ${me} may not write to ${folder}, which belongs to user ${found.uid} (mode ${mode})`,
    hint: `as root: \`install -d -m 700 -o ${me} ${quotePath(path)}\``,
  }
}

const nearestFolder = (path: string): string =>
  resultOr(() => fs.statSync(path).isDirectory(), false) || dirname(path) === path
    ? path
    : nearestFolder(dirname(path))

/** The system's code for a refused access; null where it is allowed. */
function accessProblem(path: string, rights: number): string | null {
  try {
    fs.accessSync(path, rights)
    return null
  } catch (error) {
    return systemCodeOf(error)
  }
}

const isFile = (path: string): boolean => resultOr(() => fs.statSync(path).isFile(), false)

const mend = ({ command }: OthersRight): string =>
  `whoever can write it decides what Postern does; once you looked: \`${command}\``

/** A group that has its user's number is that user's alone, where each user has a group. */
const isWritableByOthers = ({ mode, uid, gid }: fs.Stats): boolean =>
  (mode & (gid === uid ? ANYBODY_WRITES : ANYBODY_WRITES | GROUP_WRITES)) !== 0

const isReadOnly = (path: string): boolean => accessProblem(path, fs.constants.W_OK) === 'EROFS'

/** Quotes a path for a shell. */
export const quotePath = (path: string): string =>
  /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
