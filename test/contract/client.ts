import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { buffer } from 'node:stream/consumers'

/** An answer exactly as received. */
export interface Answer {
  /** As received: `HTTP/1.1 200 OK`. */
  statusLine: string
  status: number
  /** Names and values in turn. */
  rawHeaders: readonly string[]
  body: Buffer
  /** The body parsed; undefined when it is not JSON. */
  json: unknown
  /** A header's value, the first one; undefined when there is none. */
  header(name: string): string | undefined
}

/** Options of a call beside its method and path. */
export interface CallOptions {
  /** Written as JSON. */
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string
  headers?: Record<string, string>
  /** Another token than the client's; null sends no Authorization at all. */
  token?: string | null
  /** Outside the versioned prefix. */
  outside?: true
}

export interface Call extends CallOptions {
  method: string
  /** Below the prefix, with its query, as on the request line. */
  path: string
}

/** Wraps each call: makes it, checks its answer, and may refuse it by throwing. */
export type Inspect = (call: Call, make: () => Promise<Answer>) => Promise<Answer>

const PREFIX = '/bot/v1'

/** A bot's HTTP and nothing more: it retries nothing and believes nothing. */
export class Client implements Disposable {
  readonly #base: URL
  readonly #token: () => string
  readonly #inspect: Inspect
  readonly #agent: HttpAgent

  /** @param o `base` is scheme and host, perhaps with a path before the prefix */
  constructor(o: { base: string; token: () => string; inspect?: Inspect }) {
    this.#base = new URL(o.base)
    this.#token = o.token
    this.#inspect = o.inspect ?? ((_call, make) => make())
    const Agent = this.#base.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16 })
  }

  get token(): string {
    return this.#token()
  }

  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.call({ method: 'GET', path, ...options })
  }

  post(path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call({ method: 'POST', path, body, ...options })
  }

  put(path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call({ method: 'PUT', path, body, ...options })
  }

  patch(path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call({ method: 'PATCH', path, body, ...options })
  }

  delete(path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call({ method: 'DELETE', path, body, ...options })
  }

  /** Makes one call. @throws without a whole answer */
  call(call: Call): Promise<Answer> {
    const answer = this.#call(call)
    // A poll that is still under way when its case breaks is nobody’s any more.
    answer.catch(() => undefined)
    return answer
  }

  async #call(call: Call): Promise<Answer> {
    const payload = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
    const token = call.token === undefined ? this.#token() : call.token
    const headers = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(payload)),
          }),
      ...call.headers,
    }
    return await this.#inspect(call, () => this.#send(call, payload, headers))
  }

  async #send(
    { method, path, outside }: Call,
    payload: string | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const ask = this.#base.protocol === 'https:' ? httpsRequest : httpRequest
    const before = this.#base.pathname.replace(/\/+$/, '') + (outside === true ? '' : PREFIX)
    const { hostname, port, protocol } = this.#base
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    ask({ protocol, hostname, port, method, path: before + path, headers, agent: this.#agent })
      .on('response', resolve)
      .on('error', reject)
      .end(payload)
    const response = await promise
    return toAnswer(response, await buffer(response))
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

function toAnswer(response: IncomingMessage, body: Buffer): Answer {
  const { httpVersion, statusCode = 0, statusMessage = '', rawHeaders } = response
  return {
    statusLine: `HTTP/${httpVersion} ${statusCode} ${statusMessage}`,
    status: statusCode,
    rawHeaders,
    body,
    json: parsed(body),
    header: (name) => {
      const at = rawHeaders.findIndex(
        (word, index) => index % 2 === 0 && word.toLowerCase() === name.toLowerCase(),
      )
      return at === -1 ? undefined : rawHeaders[at + 1]
    },
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
