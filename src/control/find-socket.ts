/** Finding a sidecar's control socket, and seeing whose it is before anything is sent to it. */
import { lstatSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { isHeldFast, isPrivate, NotPrivateError, ownerOf } from './ownership.ts'
import { readPointer } from './pointer.ts'
import { POINTER_NAME, SOCKET_NAME } from './protocol.ts'

/**
 * The socket of a sidecar on this data directory, which may be dead; null when there is none.
 * @throws OperatorError `data-dir` when what is there is not the owner's alone: it must not be
 *   connected to; an error of node:fs
 */
export function findSocket(dataDir: string): string | null {
  try {
    const owner = ownerOf(dataDir)
    return owner === null ? null : find(dataDir, owner)
  } catch (error) {
    if (!(error instanceof NotPrivateError)) throw error
    if (error.path === dataDir && !holdsAny(dataDir)) return null
    throw new OperatorError(
      'data-dir',
      `the control socket is not used: ${error.path} ${error.reason}`,
      error.path === dataDir
        ? `run this command as the user that the sidecar runs as; ${dataDir} must be for that user alone (chmod 700)`
        : `nothing was sent; if no sidecar runs, remove ${SOCKET_NAME} and ${POINTER_NAME} from ${dataDir}, and find out who made the other`,
      { cause: error },
    )
  }
}

function find(dataDir: string, owner: number): string | null {
  const near = join(dataDir, SOCKET_NAME)
  if (isPrivate(near, { kind: 'socket', owner })) return near
  const pointed = readPointer(dataDir, owner)
  if (pointed === null) return null
  const folder = dirname(pointed)
  if (!isPrivate(folder, { kind: 'folder', owner })) return null
  if (!isHeldFast(folder, owner)) {
    throw new NotPrivateError(folder, 'lies where others can replace it')
  }
  return isPrivate(pointed, { kind: 'socket', owner }) ? pointed : null
}

/** Whether a directory that is not trusted holds anything that would be connected to. */
function holdsAny(dataDir: string): boolean {
  return [SOCKET_NAME, POINTER_NAME].some(
    (name) => lstatSync(join(dataDir, name), { throwIfNoEntry: false }) !== undefined,
  )
}

/**
 * Connects to a socket that `findSocket` gave.
 * @returns null when nobody listens: the file is gone, or its process is
 * @throws the system's error when something else is wrong, such as EACCES
 */
export function connectSocket(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null)
      else reject(error)
    })
  })
}
