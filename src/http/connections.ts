import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request whose answer is not finished. */
export interface PendingResponse {
  request: IncomingMessage
  response: ServerResponse
}

/**
 * The open connections of one listener: never more than a bound, and the longest idle one goes
 * first, so that sockets which somebody only holds open keep nobody out.
 */
export class Connections {
  readonly #bounds: { connections: number; requestsPerConnection: number }
  /** In the order in which they became idle, oldest first. */
  readonly #open = new Map<Socket, { underWay: Set<PendingResponse>; taken: number }>()
  #stopping = false
  #whenEmpty: () => void = () => {}

  constructor(bounds: { connections: number; requestsPerConnection: number }) {
    this.#bounds = bounds
  }

  /** Adds a new connection, or closes it when all the others are busy. */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#bounds.connections) this.#closeOldestIdle()
    if (this.#stopping || this.#open.size >= this.#bounds.connections) return void socket.destroy()
    this.#open.set(socket, { underWay: new Set(), taken: 0 })
    socket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#whenEmpty()
    })
  }

  /**
   * Records a request, which counts as under way until its response has closed. The response to the
   * last one allowed on a connection has `Connection: close`.
   */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    const underWay = { request, response }
    connection.underWay.add(underWay)
    connection.taken += 1
    // Node's own bound would answer one more with a bare 503 instead of closing.
    if (this.#stopping || connection.taken >= this.#bounds.requestsPerConnection) sayLast(response)
    response.on('close', () => {
      connection.underWay.delete(underWay)
      if (connection.underWay.size > 0 || !this.#open.delete(socket)) return
      this.#open.set(socket, connection)
      if (this.#stopping) socket.destroySoon()
    })
  }

  /** Whether it was accepted and is open; false for one within its TLS handshake. */
  has(socket: Socket): boolean {
    return this.#open.has(socket)
  }

  /** The requests of a connection whose answers are not finished, oldest first. */
  underWay(socket: Socket): PendingResponse[] {
    return [...(this.#open.get(socket)?.underWay ?? [])]
  }

  /** Accepts no further requests; idle connections close, busy ones close when done. */
  stop(): void {
    this.#stopping = true
    for (const [socket, { underWay }] of this.#open) {
      // Soon: the end of an answer may still be on its way out.
      if (underWay.size === 0) socket.destroySoon()
      for (const { response } of underWay) sayLast(response)
    }
  }

  /** Cuts the remaining connections. */
  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  /** Resolves when no connection is open. */
  allClosed(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve
      if (this.#open.size === 0) resolve()
    })
  }

  #closeOldestIdle(): void {
    for (const [socket, { underWay }] of this.#open) {
      if (underWay.size > 0 || socket.writableLength > 0) continue
      this.#open.delete(socket)
      socket.destroy()
      return
    }
  }
}

/** Adds `Connection: close` to the response. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
