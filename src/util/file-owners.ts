/** Whether a file has changed, and which others than this user and root may write or replace one. */
import { accessSync, constants, lstatSync, realpathSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
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
  const found = lstatSync(dirname(folder), { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return false
  if (process.getuid === undefined) return true
  const isTheirs = found.uid === owner || found.uid === 0
  return isTheirs && ((found.mode & OTHERS_WRITE) === 0 || (found.mode & STICKY) !== 0)
}

/**
 * Makes a unix socket, with mode 0600 from the moment it exists. Only within the call is the umask
 * another one: it belongs to the whole process, and other files must get their own modes.
 */
export function forOwnerAlone<T>(makeSocket: () => T): T {
  const before = process.umask(0o177)
  try {
    return makeSocket()
  } finally {
    process.umask(before)
  }
}

/** Metadata that change with each write of a file, read without its content; empty for none. */
export function lookOf(file: string | null): string {
  const found = resultOr(() => statSync(file ?? ''), null)
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
  const found = statSync(path)
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

/** Why others may replace a link; null where it is none. */
export function othersLink(path: string): OthersRight | null {
  const me = process.getuid?.()
  const { uid } = lstatSync(path)
  if (me === undefined || uid === me || uid === 0) return null
  return { reason: `is a link of user ${uid}`, command: `sudo rm ${quotePath(path)}` }
}

/** The folder that holds a file, once links are followed. @throws an error of node:fs */
export const folderOf = (path: string): string => dirname(realpathSync(path))

/** A group that has its user's number is that user's alone, where each user has a group. */
function isWritableByOthers({ mode, uid, gid }: Stats): boolean {
  return (mode & (gid === uid ? ANYBODY_WRITES : ANYBODY_WRITES | GROUP_WRITES)) !== 0
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    return systemCodeOf(error) === 'EROFS'
  }
}

/** Quotes a path for a shell. */
export const quotePath = (path: string): string =>
  /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
