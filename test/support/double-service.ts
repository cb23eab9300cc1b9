/**
 * A small service of our own reading of the spec, for tests of the whole sidecar from outside. It
 * shares no code with `src/`, keeps every byte that it received, and lies or fails on demand.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Answer, Json, Received, Reply } from './double-wire.ts'
import { DoubleWorld } from './double-world.ts'

type Script = (request: Received) => Reply | undefined | Promise<Reply | undefined>

interface Rule {
  method: string
  path: string | RegExp
  script: Script
  left: number
}

const PREFIX = '/bot/v1'

export class DoubleService {
  readonly world: DoubleWorld
  readonly log: Received[] = []
  #chunks: Buffer[] = []
  #rules: Rule[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor() {
    this.world = new DoubleWorld()
    this.#server = createServer((request, response) => {
      const body: Buffer[] = []
      request.on('data', (chunk: Buffer) => body.push(chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        void this.#take(received(method, url, headers, Buffer.concat(body).toString()), response)
      })
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    })
  }

  static async start(): Promise<DoubleService> {
    const double = new DoubleService()
    await double.rise(0)
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Every byte that ever came in, over all connections. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /**
   * Does something else than the world would, from now on; the latest rule that fits counts. A
   * script that gives undefined leaves the request to the next.
   * @param times how often; for ever when not given
   * @returns takes the rule back
   */
  script(method: string, path: string | RegExp, reply: Reply | Script, times = Infinity) {
    const script: Script = typeof reply === 'function' ? reply : () => reply
    const rule: Rule = { method, path, script, left: times }
    this.#rules.unshift(rule)
    return {
      [Symbol.dispose]: () => {
        this.#rules = this.#rules.filter((other) => other !== rule)
      },
    }
  }

  /** The requests of a kind, from a position of the log on. */
  calls(method?: string, path?: string | RegExp, since = 0): Received[] {
    return this.log
      .slice(since)
      .filter((one) => method === undefined || one.method === method)
      .filter((one) => path === undefined || fits(path, one.path))
  }

  /** Where the log is now, for `calls`. */
  mark(): number {
    return this.log.length
  }

  /** Names of the calls since a position, for counting what they cost. */
  names(since: number): string[] {
    return this.log.slice(since).map(({ method, path }) => `${method} ${path}`)
  }

  /** Goes away, with all its connections. */
  async rest(): Promise<void> {
    this.world.endPolls()
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(this.#server, 'close')
  }

  /** Comes back. */
  async rise(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest()
  }

  async #take(request: Received, response: ServerResponse): Promise<void> {
    this.log.push(request)
    const gone = new Promise<void>((resolve) => response.on('close', resolve))
    const reply = (await this.#scripted(request)) ?? (await this.world.answer(request, gone))
    if (reply === 'hang' || response.destroyed) return
    if (reply === 'cut') return void response.destroy()
    if (reply === 'cut-within') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '999' })
      response.write('{"ok":true,')
      return void setImmediate(() => response.destroy())
    }
    write(request, response, reply)
  }

  async #scripted(request: Received): Promise<Reply | undefined> {
    for (const rule of this.#rules) {
      if (rule.left <= 0 || rule.method !== request.method || !fits(rule.path, request.path))
        continue
      const reply = await rule.script(request)
      if (reply === undefined) continue
      rule.left--
      return reply
    }
    return undefined
  }
}

function received(method: string, url: string, headers: IncomingHttpHeaders, body: string) {
  const [whole = '', ...query] = url.split('?')
  const path = whole.startsWith(PREFIX) ? whole.slice(PREFIX.length) : whole
  return { method, path, query: query.join('?'), headers, body, json: parse(body), answered: null }
}

function parse(body: string): Json {
  try {
    return body === '' ? undefined : JSON.parse(body)
  } catch {
    return undefined
  }
}

function fits(pattern: string | RegExp, path: string): boolean {
  return typeof pattern === 'string' ? pattern === path : pattern.test(path)
}

function write(request: Received, response: ServerResponse, answer: Answer): void {
  const { status = 200, headers = {}, json } = answer
  const body = Buffer.from(answer.body ?? oddly(json))
  request.answered = { status, body }
  // Node's own does not follow a clock that a test has set
  const date = new Date().toUTCString()
  response.writeHead(status, { 'content-type': 'application/json', date, ...headers })
  response.end(body)
}

/** JSON that no serialiser would write: one that parses it and writes it anew is found out. */
function oddly(json: unknown): string {
  if (json === undefined) return ''
  return JSON.stringify(json).replace(/^\{/, '{ "x-double" : 1.0 ,')
}
