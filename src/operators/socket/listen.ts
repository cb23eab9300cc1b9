/** Has a server listen at the control socket of a data directory. */
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { asOperatorError, OperatorError, resultOr, systemCodeOf } from '../../errors.ts'
import { writeDurably } from '../../store/files.ts'
import { connectSocket } from './connect.ts'
import { fitsSocket, FOLDER_PREFIX, POINTER_NAME, readPointer, SOCKET_NAME } from './location.ts'
import { forOwnerAlone, isHeldFast } from '../../util/file-owners.ts'
import { isPrivate, NotPrivateError, ownerOf } from './ownership.ts'

/** A path to listen on; `clear` removes the socket, and the folder made for it. */
type SocketPlace = ReturnType<typeof makePlace>

/**
 * Makes the socket, with mode 0600 from the moment it exists, and listens at it. Remains of a dead
 * process are removed first.
 * @param dataDir absolute, existing, 0700 and of this user
 * @param runtimeDir XDG_RUNTIME_DIR, which is preferred to a shared folder for temporary files when the path in `dataDir` is too long
 * @throws OperatorError `store-in-use` when another sidecar answers there; `listen` when no socket
 *   can be made
 */
export async function listenAtSocket(server: Server, dataDir: string, runtimeDir: string | null) {
  let place: SocketPlace | null = null
  try {
    await refuseLive(dataDir)
    place = makePlace(dataDir, runtimeDir)
    const listening = once(server, 'listening')
    const { path } = place
    forOwnerAlone(() => server.listen(path))
    await listening
    return place
  } catch (error) {
    place?.clear()
    throw error instanceof OperatorError ? error : cannotListen(dataDir, error)
  }
}

async function refuseLive(dataDir: string): Promise<void> {
  const socket = await connectSocket(dataDir).catch(asOperatorError)
  // Our sidecars listen only at sockets of this user. Any other is replaced without connecting.
  if (socket === null || socket instanceof OperatorError) return
  socket.destroy()
  throw new OperatorError(
    'store-in-use',
    `a sidecar already runs on ${dataDir}`,
    '`postern status` shows it; stop it first, or give this one a dataDir of its own',
  )
}

/**
 * @throws NotPrivateError when `dataDir` is not this user's alone; an error of node:fs, also
 *   ENAMETOOLONG when no folder will do
 */
function makePlace(dataDir: string, runtimeDir: string | null) {
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
    const base = resultOr(() => realpathSync(named), named)
    const example = join(base, `${FOLDER_PREFIX}XXXXXX`)
    if (fitsSocket(join(example, SOCKET_NAME)) && isHeldFast(example, owner)) return base
  }
  throw Object.assign(new Error('no folder for a socket'), { code: 'ENAMETOOLONG' })
}

/** The XDG specification: absolute, owned by the user, 0700. */
function isOwnFolder(path: string | null, owner: number): path is string {
  if (path?.startsWith('/') !== true) return false
  return resultOr(() => isPrivate(path, { kind: 'folder', owner }), false)
}

/** Removes only files made for this user's sockets, wherever the pointer leads. */
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
    // A folder with other content is not ours to remove.
  }
}

function cannotListen(dataDir: string, error: unknown): OperatorError {
  const code = systemCodeOf(error)
  const reason = error instanceof NotPrivateError ? error.message : code
  return new OperatorError(
    'listen',
    `the control socket in ${dataDir} cannot be made (${reason})`,
    code === 'ENAMETOOLONG'
      ? 'give a shorter dataDir, or an XDG_RUNTIME_DIR of this user alone'
      : 'dataDir must be a folder of this user alone, on a local disk',
    { cause: error },
  )
}
