/** The sidecar's end of the control socket. Whoever may open the socket may do everything. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { setTimeout as elapsed } from 'node:timers/promises'
import { OperatorError } from '../errors.ts'
import type { Log } from '../logger.ts'
import { Connection } from './connection.ts'
import type { CheckLine, Operations } from './operations.ts'
import { findSocket, reach } from './find-socket.ts'
import { NotPrivateError } from './ownership.ts'
import { makePlace } from './place.ts'
import type { Place } from './place.ts'
import type { Request } from './protocol.ts'

const MAX_CONNECTIONS = 16
const IDLE_MS = 60_000
const DRAIN_MS = 2000

/**
 * Opens the control socket in `dataDir`: mode 0600 from the moment it exists. One that a dead
 * process left is replaced.
 * @param o `dataDir` absolute and 0700; `operations` and `check` are what requests are answered
 *   with; `runtimeDir` XDG_RUNTIME_DIR, where the socket goes when its path in `dataDir` is too long;
 *   `idleMs` how long a connection has for its next request (one minute); `drainMs` how long disposing waits for operations under way (two seconds)
 * @returns disposing it removes the socket
 * @throws OperatorError `store-in-use` when another sidecar answers there; `listen` when no socket
 *   can be made
 */
export async function startControl(o: {
  dataDir: string
  operations: Operations
  check: () => Promise<CheckLine[]>
  log: Log
  runtimeDir?: string | null
  idleMs?: number
  drainMs?: number
}): Promise<AsyncDisposable> {
  await refuseLive(o.dataDir)
  const idleMs = o.idleMs ?? IDLE_MS
  const connections = new Set<Connection>()
  // A client that has asked its last may close its half before the answer comes.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = new Connection(socket, (request) => perform(request, o), idleMs)
    connections.add(connection)
    void connection.closed.then(() => connections.delete(connection))
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('drop', () => o.log.warn({ limit: MAX_CONNECTIONS }, 'control connection dropped'))
  const place = await listen(server, o.dataDir, o.runtimeDir ?? null)
  o.log.debug('control socket open')
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      place.clear()
      for (const connection of connections) connection.stop()
      await Promise.race([closed, elapsed(o.drainMs ?? DRAIN_MS, undefined, { ref: false })])
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

async function refuseLive(dataDir: string): Promise<void> {
  const path = findOwn(dataDir)
  if (path === null) return
  const socket = await reach(path).catch((error: unknown) => {
    throw cannotListen(dataDir, error)
  })
  if (socket === null) return
  socket.destroy()
  throw new OperatorError(
    'store-in-use',
    `a sidecar already runs on ${dataDir}`,
    '`postern status` shows it; stop it first, or give this one a dataDir of its own',
  )
}

/** What is not ours no sidecar of ours listens at; it is not asked, and ours takes its place. */
function findOwn(dataDir: string): string | null {
  try {
    return findSocket(dataDir)
  } catch (error) {
    if (error instanceof OperatorError) return null
    throw cannotListen(dataDir, error)
  }
}

async function listen(server: Server, dataDir: string, runtimeDir: string | null): Promise<Place> {
  let place: Place | null = null
  try {
    place = makePlace(dataDir, runtimeDir)
    const listening = once(server, 'listening')
    const before = process.umask(0o177)
    try {
      server.listen(place.path)
    } finally {
      process.umask(before)
    }
    await listening
    return place
  } catch (error) {
    place?.clear()
    throw cannotListen(dataDir, error)
  }
}

function cannotListen(dataDir: string, error: unknown): OperatorError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
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

function perform(
  request: Request,
  { operations, check }: { operations: Operations; check: () => Promise<CheckLine[]> },
): Promise<unknown> {
  switch (request.operation) {
    case 'status':
      return operations.status()
    case 'check':
      return check()
    case 'keyList':
      return operations.keyList()
    case 'keyShow':
      return operations.keyShow(request.fingerprint)
    case 'keyPublish':
      return operations.keyPublish({ replace: request.replace })
    case 'keyRotate':
      return operations.keyRotate()
    case 'keyRotation':
      return operations.keyRotation()
    case 'keyAbandon':
      return operations.keyAbandon()
    case 'keyDeletion':
      return operations.keyDeletion(request.fingerprint)
    case 'keyDelete':
      return operations.keyDelete(request.fingerprint)
    case 'keyGenerate':
      return operations.keyGenerate()
    case 'keyExport':
      return operations.keyExport(request)
    case 'keyImport':
      return operations.keyImport(request)
    case 'keyProtect':
      return operations.keyProtect(request)
    case 'backupCreate':
      return operations.backupCreate()
    case 'backupAccept':
      return operations.backupAccept(request)
    case 'chatList':
      return operations.chatList()
    case 'chatAllowReadable':
      return operations.chatAllowReadable(request.lift)
    case 'trustList':
      return operations.trustList()
    case 'trustSay':
      return operations.trustSay(request.word)
    case 'trustLog':
      return operations.trustLog(request.range)
    case 'explainUpdate':
      return operations.explainUpdate(request.updateId)
    case 'explainSent':
      return operations.explainSent(request.messageId)
    case 'open':
      return operations.open(request.armored)
  }
  return request satisfies never
}
