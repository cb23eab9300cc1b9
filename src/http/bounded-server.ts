import * as http from 'node:http'
import type { Socket } from 'node:net'
import type { DoorBounds } from './bounds.ts'
import type { Connections, PendingResponse } from './connections.ts'
import { createTlsServer, onConnection, type DoorTls, type TlsProblem } from './door-tls.ts'
import { type FailureAnswer, failureAnswer, REQUEST_ID } from './error-handler.ts'

/** How a request fails that the HTTP parser, or a clock, stopped. */
const FAILURES = new Map<unknown, [status: number, code: string, message: string]>([
  ['HPE_HEADER_OVERFLOW', [400, 'bad_request', 'the headers are too long']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'too_large', 'the chunk extensions are too long']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'bad_request', 'the request took too long to arrive']],
])
/** A door that closes waits for handshakes, which are no requests yet. */
const HANDSHAKE_MS = 5000
const MALFORMED = [400, 'bad_request', 'the request is not valid HTTP'] as const

/** The parts of a listener. */
export interface ServerParts {
  bounds: DoorBounds
  connections: Connections
  tls: DoorTls | undefined
  /** Called where changed files of TLS cannot be used. */
  onTlsProblem: (problem: TlsProblem) => void
  /** Checks a request before any routing: null lets it on, an answer ends it. */
  check: (request: http.IncomingMessage) => FailureAnswer | null
  /**
   * Called for everything that never reaches a route; `method` is empty when none was read. Gives the
   * id that the log has for it.
   */
  onTurnedAway: (method: string, answer: FailureAnswer) => string
}

/**
 * An HTTP server with every bound set, which gives the envelope also where Node would answer by
 * itself: no or two Hosts, unknown expectations, any error of the parser. CONNECT is closed;
 * an Upgrade is ignored.
 */
export function createBoundedServer(parts: ServerParts, routes: http.RequestListener): http.Server {
  const { bounds, connections, tls, onTlsProblem: onProblem } = parts
  const options: http.ServerOptions = {
    headersTimeout: bounds.headersMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkMs,
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false,
    shouldUpgradeCallback: () => false,
  }
  const handshakeMs = Math.min(bounds.headersMs, HANDSHAKE_MS)
  const server =
    tls === undefined
      ? http.createServer(options)
      : createTlsServer(tls, options, { handshakeMs, sockets: 2 * bounds.connections, onProblem })
  server.setTimeout(bounds.silenceMs)
  // `Connections` does it; Node's own, on close, cuts answers that are not all out yet.
  server.closeIdleConnections = () => {}

  const take: http.RequestListener = (request, response) => {
    connections.begin(request, response)
    const answer = parts.check(request)
    if (answer === null) return routes(request, response)
    const requestId = parts.onTurnedAway(request.method ?? '', answer)
    response.writeHead(answer.status, lastHeaders(answer, requestId)).end(answer.body)
  }
  onConnection(server, (socket) => connections.accept(socket))
  server.on('request', take)
  // The body is asked for only once a route wants it; see `createRoutes`.
  server.on('checkContinue', take)
  server.on('checkExpectation', take)
  server.on('clientError', (error: Error, socket: Socket) => {
    const [status, code, message] = ('code' in error && FAILURES.get(error.code)) || MALFORMED
    const answer = failureAnswer({ status, code, message })
    const [first, ...more] = connections.underWay(socket)
    const isOpen = connections.has(socket) && socket.writable
    if (!isOpen || more.length > 0 || (first !== undefined && !isArriving(first))) {
      // Anything written now would be read as a part of an earlier answer.
      socket.destroy()
    } else if (first === undefined) {
      socket.end(onTheWire(answer, parts.onTurnedAway('', answer)))
      socket.destroySoon()
    } else {
      first.response.writeHead(status, lastHeaders(answer)).end(answer.body)
    }
  })
  return server
}

const isArriving = ({ request, response }: PendingResponse): boolean =>
  !request.complete && !response.headersSent

/** Headers of an answer that is the last on its connection. */
function lastHeaders({ headers, body }: FailureAnswer, requestId?: string): Record<string, string> {
  const named = requestId === undefined ? {} : { [REQUEST_ID]: requestId }
  return { ...headers, ...named, 'content-length': String(body.length), connection: 'close' }
}

function onTheWire(answer: FailureAnswer, requestId: string): Buffer {
  const lines = Object.entries(lastHeaders(answer, requestId)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const top = `HTTP/1.1 ${answer.status} ${http.STATUS_CODES[answer.status] ?? ''}\r\n`
  return Buffer.concat([Buffer.from(`${top}${lines.join('')}\r\n`), answer.body])
}
