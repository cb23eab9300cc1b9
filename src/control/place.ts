/** Where the control socket is: in `dataDir`, or in a folder of its own when that path is too long. */
import { chmodSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeDurably } from '../store/files.ts'
import { isHeldFast, isPrivate, NotPrivateError, ownerOf } from './ownership.ts'
import { FOLDER_PREFIX, readPointer } from './pointer.ts'
import { fitsSocket, POINTER_NAME, SOCKET_NAME } from './protocol.ts'

/** A path to listen on, and how to leave nothing behind. */
export interface Place {
  path: string
  /** Removes the socket, and what was made for it. */
  clear(): void
}

/**
 * Makes room for a socket. What a dead process left is removed first.
 * @param dataDir absolute, existing, 0700 and of this user
 * @param runtimeDir XDG_RUNTIME_DIR, which is taken before a shared folder for temporary files
 * @throws NotPrivateError when `dataDir` is not this user's alone; an error of node:fs, also
 *   ENAMETOOLONG when no folder will do
 */
export function makePlace(dataDir: string, runtimeDir: string | null): Place {
  const owner = ownerOf(dataDir)
  if (owner === null) throw Object.assign(new Error('no such folder'), { code: 'ENOENT' })
  const me = process.getuid?.() ?? owner
  if (me !== owner) throw new NotPrivateError(dataDir, `belongs to user ${owner}, not ${me}`)
  clearStale(dataDir, owner)
  const near = join(dataDir, SOCKET_NAME)
  if (fitsSocket(near)) return { path: near, clear: () => rmSync(near, { force: true }) }
  // A name that nobody knows before, and a folder that did not exist: nothing can wait there.
  const folder = mkdtempSync(join(baseFor(runtimeDir, owner), FOLDER_PREFIX))
  chmodSync(folder, 0o700)
  const path = join(folder, SOCKET_NAME)
  const pointer = join(dataDir, POINTER_NAME)
  writeDurably(pointer, `${path}\n`)
  return {
    path,
    clear: () => {
      rmSync(pointer, { force: true })
      removeFolder(folder)
    },
  }
}

/** Where a folder for the socket can be made: the user's own, or the system's, as short as needed. */
function baseFor(runtimeDir: string | null, owner: number): string {
  const bases = [...(isOwnFolder(runtimeDir, owner) ? [runtimeDir] : []), tmpdir(), '/tmp']
  for (const named of bases) {
    const base = resolved(named)
    const example = join(base, `${FOLDER_PREFIX}XXXXXX`)
    if (fitsSocket(join(example, SOCKET_NAME)) && isHeldFast(example, owner)) return base
  }
  throw Object.assign(new Error('no folder for a socket'), { code: 'ENAMETOOLONG' })
}

/** The XDG specification: absolute, owned by the user, 0700. */
function isOwnFolder(path: string | null, owner: number): path is string {
  try {
    return path?.startsWith('/') === true && isPrivate(path, { kind: 'folder', owner })
  } catch {
    return false
  }
}

function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Only what `makePlace` made for this user is removed, whatever the pointer says. */
function clearStale(dataDir: string, owner: number): void {
  rmSync(join(dataDir, SOCKET_NAME), { force: true })
  try {
    const pointed = readPointer(dataDir, owner)
    const folder = pointed === null ? null : dirname(pointed)
    if (folder !== null && isPrivate(folder, { kind: 'folder', owner })) removeFolder(folder)
  } catch {
    // Somebody else's by now: it stays, and only our pointer to it goes.
  }
  rmSync(join(dataDir, POINTER_NAME), { force: true })
}

/** Never more than the socket and an empty folder. */
function removeFolder(folder: string): void {
  try {
    rmSync(join(folder, SOCKET_NAME), { force: true })
    rmdirSync(folder)
  } catch {
    // A folder that holds something else is left to whoever put it there.
  }
}
