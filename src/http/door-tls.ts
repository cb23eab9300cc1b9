/** TLS of the bot's door, with certificates of its callers. */
import { randomBytes, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { OperatorError, systemCodeOf } from '../errors.ts'
import { lookOf } from '../util/file-owners.ts'

/** PEM files, absolute. */
export interface DoorTls {
  certFile: string
  keyFile: string
  /** The authority of the callers' certificates: each caller needs one. Without it none is asked for. */
  clientCaFile: string | undefined
}

/** Files are compared at new connections no more often than this, and this often with an authority. */
const LOOK_EVERY_MS = 1000

/** Why changed files are not used; `isClosed`: their authority is none, and nobody is admitted. */
export interface TlsProblem {
  problem: string
  isClosed: boolean
}

/**
 * A server that reads its files again once they have changed: each new connection is by the files of
 * now, and resumes no session of before. A changed authority ends the connections that are open, and
 * one that cannot be read refuses every other.
 * @param o `handshakeMs` time limit of a handshake, `sockets` most connections, those in a handshake
 *   included
 * @param onProblem called with the problem of changed files; the former ones go on to count, unless
 *   `isClosed`
 * @throws OperatorError `settings` for files that make no server
 */
export function createTlsServer(
  tls: DoorTls,
  options: ServerOptions,
  o: { handshakeMs: number; sockets: number; onProblem: (problem: TlsProblem) => void },
): Server {
  const { clientCaFile } = tls
  const server = createServer({
    ...options,
    ...read(tls),
    requestCert: clientCaFile !== undefined,
    rejectUnauthorized: clientCaFile !== undefined,
    handshakeTimeout: o.handshakeMs,
  })
  server.maxConnections = o.sockets
  let seen = looksOf(tls)
  let authority = lookOf(clientCaFile ?? null)
  let isClosed = false
  let lookedAtMs = performance.now()
  const open = new Set<Socket>()
  const look = (): void => {
    lookedAtMs = performance.now()
    const now = looksOf(tls)
    if (now === seen) return
    seen = now
    const before = authority
    authority = lookOf(clientCaFile ?? null)
    try {
      server.setSecureContext(read(tls))
      server.setTicketKeys(randomBytes(48))
      isClosed = false
    } catch (error) {
      isClosed ||= authority !== before
      o.onProblem({ problem: (error as Error).message, isClosed })
    }
    // also those within their handshakes
    if (authority !== before) for (const socket of open) socket.destroy()
  }
  server.prependListener('connection', (socket: Socket) => {
    if (performance.now() - lookedAtMs >= LOOK_EVERY_MS) look()
    if (isClosed) socket.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  if (clientCaFile === undefined) return server
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return server.once('close', () => clearInterval(timer))
}

function read({ certFile, keyFile, clientCaFile }: DoorTls): SecureContextOptions {
  try {
    const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)]
    const ca = clientCaFile === undefined ? undefined : readFileSync(clientCaFile)
    const context = { cert, key, ...(ca && { ca }) }
    // Node reads any other text as an authority of nobody
    for (const one of [cert, ca ?? cert]) void new X509Certificate(one).serialNumber
    createSecureContext(context)
    return context
  } catch (error) {
    throw new OperatorError(
      'settings',
      `listen.tlsCertFile, tlsKeyFile or tlsClientCaFile cannot be used (${systemCodeOf(error)})`,
      'give PEM files that belong together',
      { cause: error },
    )
  }
}

const looksOf = ({ certFile, keyFile, clientCaFile }: DoorTls): string =>
  [certFile, keyFile, clientCaFile ?? null].map(lookOf).join()

/** Whether a server speaks TLS. */
export const isTls = (server: Server): boolean => 'setSecureContext' in server

/** Calls back with each connection once it can carry requests. */
export function onConnection(
  server: Server,
  accept: (socket: Parameters<RequestListener>[0]['socket']) => void,
): void {
  server.on(isTls(server) ? 'secureConnection' : 'connection', accept)
}
