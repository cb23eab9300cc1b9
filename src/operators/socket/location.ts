/**
 * Where the control socket lies: in `dataDir`, or, when that path would be too long for a socket, in
 * a folder of its own that a file in `dataDir` names (the pointer).
 */
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { isPrivate } from './ownership.ts'

export const SOCKET_NAME = 'control.sock'
export const POINTER_NAME = 'control.path'
/** Begins the names of the folders that are made for a socket. */
export const FOLDER_PREFIX = 'postern-control-'

/** The longest socket path that every system accepts. */
export const MAX_SOCKET_PATH_BYTES = 100
const MAX_POINTER_BYTES = 4096

/** True when a socket may be made at this path. */
export const fitsSocket = (path: string): boolean =>
  Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES

/**
 * Reads the pointer. The socket that it names may be anybody's by now.
 * @param owner user id of the data directory's owner
 * @returns null when there is none, or none as a sidecar writes it
 * @throws NotPrivateError when it is not the owner's own plain file
 */
export function readPointer(dataDir: string, owner: number): string | null {
  const pointer = join(dataDir, POINTER_NAME)
  if (!isPrivate(pointer, { kind: 'file', owner })) return null
  const path = readStart(pointer).trim()
  const isOurs =
    path.startsWith('/') &&
    !path.includes('\0') &&
    normalize(path) === path &&
    basename(path) === SOCKET_NAME &&
    basename(dirname(path)).startsWith(FOLDER_PREFIX)
  return isOurs ? path : null
}

function readStart(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const start = Buffer.alloc(MAX_POINTER_BYTES)
    return start.toString('utf8', 0, readSync(descriptor, start))
  } finally {
    closeSync(descriptor)
  }
}
