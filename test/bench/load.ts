/** Requests over raw sockets, so that whoever asks takes as little as possible of the machine. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const HEAD_STATUS_END = 'HTTP/1.1 200'.length
const STATUSES = new Set(['200', '201', '503'])
const LENGTH = /\r\ncontent-length: (\d+)/i
const LAST = /\r\nconnection: close/i

/** One connection, one request at a time; made anew when the other side wants no more on it. */
export class Connection implements Disposable {
  readonly #to: { host: string; port: number }
  readonly #request: Buffer
  #socket: Socket | null = null
  #received = ''
  #done: (isDone: boolean) => void = () => {}
  #fail: (error: Error) => void = () => {}

  /** @param url whom to ask; `path` and `token` of the request, which is a POST where it has a `body` */
  constructor(url: string, o: { path: string; token: string; body?: string; userAgent?: string }) {
    const { hostname, port, host } = new URL(url)
    const { body = '', userAgent = 'postern-bench' } = o
    this.#to = { host: hostname, port: Number(port) }
    const lines = [
      `${body === '' ? 'GET' : 'POST'} ${o.path} HTTP/1.1`,
      `host: ${host}`,
      `authorization: Bearer ${o.token}`,
      `user-agent: ${userAgent}`,
    ]
    if (body !== '') lines.push('content-type: application/json', `content-length: ${body.length}`)
    this.#request = Buffer.from(lines.join('\r\n') + HEAD_END + body)
  }

  /**
   * Asks once.
   * @returns whether it is done; false for 503, by which a flood is asked to return later
   * @throws Error for another status than these, 200 and 201
   */
  async ask(): Promise<boolean> {
    const socket = (this.#socket ??= await this.#open())
    return await new Promise((resolve, reject) => {
      this.#done = resolve
      this.#fail = reject
      socket.write(this.#request)
    })
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy()
  }

  async #open(): Promise<Socket> {
    const socket = connect({ ...this.#to, noDelay: true })
    await once(socket, 'connect')
    socket.on('data', (chunk: Buffer) => this.#take(chunk.toString('latin1')))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => {
      if (this.#socket !== socket) return
      // Idle for long, it is closed by the other side; the next request opens another.
      this.#socket = null
      this.#fail(new Error('the connection was closed'))
    })
    return socket
  }

  #take(text: string): void {
    this.#received += text
    const head = this.#received.indexOf(HEAD_END)
    if (head === -1) return
    const length = Number(LENGTH.exec(this.#received)?.[1] ?? 0)
    if (this.#received.length < head + HEAD_END.length + length) return
    const received = this.#received.slice(0, head)
    this.#received = ''
    if (LAST.test(received)) this.#socket = null
    const status = received.slice('HTTP/1.1 '.length, HEAD_STATUS_END)
    if (STATUSES.has(status)) this.#done(status !== '503')
    else this.#fail(new Error(received))
  }
}

/** Asks so often in all, over all connections at once. */
export async function askAll(connections: Connection[], requests: number): Promise<void> {
  let left = requests
  const lane = async (connection: Connection): Promise<void> => {
    while (left-- > 0) await connection.ask()
  }
  await Promise.all(connections.map(lane))
}
