/** Where the control socket is: in `dataDir`, or in a folder of its own when that path is too long. */
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { fitsSocket, POINTER_NAME, SOCKET_NAME } from './protocol.ts'

const FOLDER_PREFIX = 'postern-control-'
const MAX_POINTER = 4096

/** A path to listen on, and how to leave nothing behind. */
export interface Place {
  path: string
  /** Removes the socket, and what was made for it. */
  clear(): void
}

/**
 * Makes room for a socket. What a dead process left is removed first.
 * @param dataDir absolute, existing, 0700
 */
export function makePlace(dataDir: string): Place {
  clearStale(dataDir)
  const near = join(dataDir, SOCKET_NAME)
  if (fitsSocket(near)) return { path: near, clear: () => rmSync(near, { force: true }) }
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  chmodSync(folder, 0o700)
  const path = join(folder, SOCKET_NAME)
  const pointer = join(dataDir, POINTER_NAME)
  writeFileSync(`${pointer}.new`, `${path}\n`, { mode: 0o600 })
  renameSync(`${pointer}.new`, pointer)
  return {
    path,
    clear: () => {
      rmSync(pointer, { force: true })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The socket of a sidecar on this data directory, which may be dead; null when there is none. */
export function findSocket(dataDir: string): string | null {
  const near = join(dataDir, SOCKET_NAME)
  if (statSync(near, { throwIfNoEntry: false })?.isSocket() === true) return near
  const pointed = readPointer(dataDir)
  return pointed !== null && statSync(pointed, { throwIfNoEntry: false })?.isSocket() === true
    ? pointed
    : null
}

/**
 * Connects to a socket.
 * @returns null when nobody listens: the file is gone, or its process is
 * @throws the system's error when something else is wrong, such as EACCES
 */
export function reach(path: string): Promise<Socket | null> {
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

function clearStale(dataDir: string): void {
  rmSync(join(dataDir, SOCKET_NAME), { force: true })
  const pointed = readPointer(dataDir)
  if (pointed === null) return
  const folder = dirname(pointed)
  // Only what `makePlace` made may be removed, whatever the pointer says.
  const ours = dirname(folder) === tmpdir() && basename(folder).startsWith(FOLDER_PREFIX)
  if (ours && basename(pointed) === SOCKET_NAME) rmSync(folder, { recursive: true, force: true })
  rmSync(join(dataDir, POINTER_NAME), { force: true })
}

function readPointer(dataDir: string): string | null {
  try {
    const path = readFileSync(join(dataDir, POINTER_NAME), 'utf8').slice(0, MAX_POINTER).trim()
    return path.startsWith('/') && !path.includes('\0') ? path : null
  } catch {
    return null
  }
}
