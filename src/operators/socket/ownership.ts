/**
 * The owner of a control socket, checked before connecting to it: after a crash, a path in a shared
 * folder may lead to another user's socket, and requests carry passphrases.
 *
 * No other user can replace the socket between check and connection. Its folder is its owner's
 * alone (0700, no link), so only the owner creates or renames entries in it. The folder itself is
 * in one that is the owner's or root's, where others cannot rename. The place of `dataDir` is the
 * operator's choice: a user who can replace that folder has the whole store already.
 */
import { lstatSync, statSync, type Stats } from 'node:fs'

/** A path that is not its owner's alone, and why. */
export class NotPrivateError extends Error {
  readonly path: string
  /** Goes on from the path: `is a symbolic link`. */
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`)
    this.path = path
    this.reason = reason
  }
}

/** Modes forbidden for others: any access to a folder or a socket, and writing a file. */
const FORBIDDEN = { folder: 0o077, socket: 0o077, file: 0o022 }

/**
 * The user whose socket, pointer and folder may be used for a data directory: its owner, who must be
 * this process's user. Root may use any user's, as `sudo postern status` does, and then only files
 * of that owner. A link to the directory is followed: it is the operator's.
 * @returns null when there is no such directory
 * @throws NotPrivateError when it is another user's, or open to others
 */
export function ownerOf(dataDir: string): number | null {
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (found === undefined) return null
  const me = process.getuid?.() ?? found.uid
  const isMine = me === 0 || me === found.uid
  if (!isMine) throw new NotPrivateError(dataDir, `belongs to user ${found.uid}, not ${me}`)
  requirePrivate(dataDir, found, { kind: 'folder', owner: found.uid })
  return found.uid
}

/**
 * Sees that something is its owner's alone, and no link.
 * @returns false when it is not there
 * @throws NotPrivateError
 */
export function isPrivate(path: string, expected: Expected): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  requirePrivate(path, found, expected)
  return true
}

interface Expected {
  kind: 'folder' | 'socket' | 'file'
  /** User id. */
  owner: number
}

/** @throws NotPrivateError */
function requirePrivate(path: string, found: Stats, { kind, owner }: Expected): void {
  const require = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new NotPrivateError(path, otherwise)
  }
  require(!found.isSymbolicLink(), 'is a symbolic link')
  const is = { folder: found.isDirectory(), socket: found.isSocket(), file: found.isFile() }
  require(is[kind], `is no ${kind}`)
  // Systems without user ids have no such modes either.
  if (process.getuid === undefined) return
  require(found.uid === owner, `belongs to user ${found.uid}, not ${owner}`)
  const mode = found.mode & 0o777
  require((mode & FORBIDDEN[kind]) === 0, `is open to others (mode ${mode.toString(8)})`)
}
