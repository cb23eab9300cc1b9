/** One command's connection: its requests are answered in order, one at a time. */
import type { Socket } from 'node:net'
import { OperatorError } from '../errors.ts'
import { readLines } from './lines.ts'
import { MAX_REQUEST_BYTES, Request, toFault } from './protocol.ts'

/** Serves a socket until its client ends, is idle too long, or the sidecar stops. */
export class Connection {
  /** Resolves when the socket is closed; never rejects. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #perform: (request: Request) => Promise<unknown>
  readonly #idleMs: number
  #patience: NodeJS.Timeout | undefined
  #working = false
  #stopping = false

  /**
   * @param perform gives the result of a request
   * @param idleMs how long it has for its next request, whole, and for taking an answer: bytes that
   *   drip in buy no more time
   */
  constructor(socket: Socket, perform: (request: Request) => Promise<unknown>, idleMs: number) {
    this.#socket = socket
    this.#perform = perform
    this.#idleMs = idleMs
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        clearTimeout(this.#patience)
        resolve()
      })
    })
    socket.on('error', () => {})
    this.#awaitRequest()
    void this.#serve()
  }

  /** Closes it, after the operation under way is answered. */
  stop(): void {
    this.#stopping = true
    if (!this.#working) this.#socket.destroy()
  }

  /** Closes it now; an operation under way goes on, and its answer is lost. */
  destroy(): void {
    this.#socket.destroy()
  }

  async #serve(): Promise<void> {
    try {
      for await (const line of readLines(this.#socket, MAX_REQUEST_BYTES)) {
        clearTimeout(this.#patience)
        this.#working = true
        const answer = await this.#answer(line)
        this.#working = false
        this.#awaitRequest()
        await this.#send(`${JSON.stringify(answer)}\n`)
        if (this.#stopping) break
      }
      this.#socket.end()
    } catch {
      // A line too long, or a client that is gone: there is nobody to tell.
    }
    this.#socket.destroySoon()
  }

  #awaitRequest(): void {
    clearTimeout(this.#patience)
    if (this.#socket.destroyed) return
    this.#patience = setTimeout(() => this.#socket.destroy(), this.#idleMs)
  }

  /** Resolves when the line has left, or cannot. */
  #send(line: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(line, () => resolve())
    })
  }

  async #answer(line: string): Promise<unknown> {
    try {
      return { result: await this.#perform(parse(line)) }
    } catch (error) {
      return { error: toFault(error) }
    }
  }
}

function parse(line: string): Request {
  try {
    return Request.parse(JSON.parse(line))
  } catch {
    throw new OperatorError(
      'usage',
      'the sidecar does not know this request',
      'the sidecar and this command must be of one version; `postern status` shows its version',
    )
  }
}
