/** Connects to a sidecar's control socket, once it is known whose it is. */
import { lstatSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { POINTER_NAME, readPointer, SOCKET_NAME } from './location.ts'
import { isHeldFast } from '../../util/file-owners.ts'
import { isPrivate, NotPrivateError, ownerOf } from './ownership.ts'

/**
 * Connects to the sidecar that runs on a data directory.
 * @returns null when there is no socket, or nobody listens at it
 * @throws OperatorError `data-dir` when the socket is not the owner's alone, and then does not
 *   connect; an error of node:fs or node:net, such as EACCES
 */
export async function connectSocket(dataDir: string): Promise<Socket | null> {
  const path = findSocket(dataDir)
  return path === null ? null : await connectTo(path)
}

function findSocket(dataDir: string): string | null {
  try {
    const owner = ownerOf(dataDir)
    return owner === null ? null : findOf(owner, dataDir)
  } catch (error) {
    if (!(error instanceof NotPrivateError)) throw error
    if (!holdsAny(dataDir)) return null
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

function findOf(owner: number, dataDir: string): string | null {
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
const holdsAny = (dataDir: string): boolean =>
  [SOCKET_NAME, POINTER_NAME].some(
    (name) => lstatSync(join(dataDir, name), { throwIfNoEntry: false }) !== undefined,
  )

const connectTo = (path: string): Promise<Socket | null> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null)
      else reject(error)
    })
  })
