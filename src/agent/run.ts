/** The agent as a process: its keys, its journal and its socket. */
import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname } from 'node:path'
import { OperatorError, systemCodeOf } from '../errors.ts'
import type { Log } from '../logger.ts'
import { othersRight, withUmask } from '../util/file-owners.ts'
import { knock, SOCKET_PATH_BYTES } from '../util/local-door.ts'
import { openJournal } from './journal.ts'
import { openAgentKeys, type KeysOpening } from './keys.ts'
import { createAgentServer } from './server.ts'

/** Of the socket: its user, and its group, in which the sidecars' users may be. */
const UMASK = 0o117

export interface AgentOptions extends KeysOpening {
  /** Absolute path of the socket to make. */
  socket: string
  /** How many signatures and session keys are given a minute. */
  perMinute: { signatures: number; sessionKeys: number }
  log: Log
}

/**
 * Opens the keys and listens.
 * @returns disposing it ends all connections
 * @throws OperatorError `listen` when the socket cannot be made or others could replace it;
 *   `store-in-use` when another agent listens there; as `openStore` does
 */
export async function startAgent(o: AgentOptions): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  refuseUnsafeSocket(o.socket)
  const keys = stack.use(await openAgentKeys(o))
  const journal = stack.use(openJournal(o.dataDir))
  const { server, end } = createAgentServer({ ...o, keys, journal })
  await listenAt(server, o.socket)
  stack.defer(async () => {
    const closed = once(server, 'close')
    end()
    await closed
    rmSync(o.socket, { force: true })
  })
  o.log.info({ socket: o.socket, keys: keys.list().length }, 'the key agent listens')
  return stack.move()
}

/** Others with a right to write the folder could replace the socket by one of their own. */
function refuseUnsafeSocket(path: string): void {
  if (!path.startsWith('/') || Buffer.byteLength(path) > SOCKET_PATH_BYTES) {
    throw cannotListen(path, `expected an absolute path of at most ${SOCKET_PATH_BYTES} bytes`)
  }
  let right: ReturnType<typeof othersRight>
  try {
    right = othersRight(dirname(path))
  } catch (error) {
    throw cannotListen(path, `its folder is not there (${systemCodeOf(error)})`)
  }
  if (right !== null) throw cannotListen(path, `its folder ${right.reason}`, `\`${right.command}\``)
}

async function listenAt(server: Server, path: string): Promise<void> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) {
      if ((await knock(path)) === 'EADDRINUSE') throw otherAgent(path)
      rmSync(path)
    }
    const listening = once(server, 'listening')
    withUmask(UMASK, () => server.listen(path))
    await listening
  } catch (error) {
    throw error instanceof OperatorError ? error : cannotListen(path, systemCodeOf(error))
  }
}

const otherAgent = (path: string): OperatorError =>
  new OperatorError(
    'store-in-use',
    `an agent already listens at ${path}`,
    'stop it first, or give this one a socket of its own',
  )

const cannotListen = (path: string, why: string, hint = ''): OperatorError =>
  new OperatorError('listen', `the socket ${path} cannot be made: ${why}`, hint)
