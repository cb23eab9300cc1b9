/**
 * A client of an Assuan server, the line protocol of gpg-agent (libassuan, "Assuan Protocol"), over
 * one connection that it opens again by itself. The server answers commands one after the other.
 */
import { connect, type Socket } from 'node:net'
import { systemCodeOf } from '../errors.ts'
import { HolderReach } from './holder-reach.ts'

/** The longest line of the protocol, without its end. */
const LINE_MAX = 1000
/** The longest answer that is read. */
const ANSWER_MAX = 16_384
/** So often a server that has nothing to do is asked whether it is there. */
const CHECK_MS = 750
/** A server that is silent for so long is not reachable, though it may still answer. */
const SILENT_MS = 1500
const DEADLINE_MS = 10_000
const LF = 10

/** Commands that are sent together, and the answers to them. */
interface CommandBatch extends PromiseWithResolvers<Buffer> {
  commands: readonly string[]
  /** Sent when the server inquires, once. */
  inquired: Buffer | null
  /** Answers that are missing yet. */
  left: number
  error: AssuanError | null
  /** Decoded data of the answers. */
  data: Buffer[]
  bytes: number
  sentMs: number
}

/** The server refused a command. */
export class AssuanError extends Error {
  override name = 'AssuanError'
  /** Of libgpg-error, without its source. */
  readonly code: number

  constructor(code: number) {
    super(`it refused (libgpg-error ${code})`)
    this.code = code
  }
}

/** The server does not answer, or not by the protocol. */
export class AssuanUnreachableError extends Error {
  override name = 'AssuanUnreachableError'
}

export class AssuanClient extends HolderReach {
  readonly #path: () => string
  readonly #greeting: readonly string[]
  readonly #timer: NodeJS.Timeout
  readonly #queue: CommandBatch[] = []
  #socket: Socket | null = null
  #rest: Buffer = Buffer.alloc(0)

  /**
   * @param path gives the server's socket, each time that it connects
   * @param greeting commands that are sent first on each connection
   */
  constructor(path: () => string, greeting: readonly string[]) {
    super()
    this.#path = path
    this.#greeting = greeting
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
    this.#connect()
  }

  /**
   * Sends commands together, when those before are answered.
   * @param inquired the data for the one inquiry that the server may make
   * @returns the data of the answers, to be zeroed after use
   * @throws AssuanError; AssuanUnreachableError
   */
  async ask(commands: readonly string[], inquired: Buffer | null = null): Promise<Buffer> {
    await this.known
    if (this.#socket === null) throw new AssuanUnreachableError(this.state.reason)
    return await this.#send({ commands, inquired, left: commands.length })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#end('was left')
  }

  #send(o: Pick<CommandBatch, 'commands' | 'inquired' | 'left'>): Promise<Buffer> {
    const started = { error: null, data: [], bytes: 0, sentMs: 0 }
    const exchange: CommandBatch = { ...o, ...started, ...Promise.withResolvers<Buffer>() }
    if (this.#queue.push(exchange) === 1) this.#begin(exchange)
    return exchange.promise
  }

  #begin(exchange: CommandBatch): void {
    exchange.sentMs = performance.now()
    if (exchange.commands.length > 0) this.#socket?.write(`${exchange.commands.join('\n')}\n`)
  }

  #connect(): void {
    let problem = 'closed the connection'
    this.#rest = Buffer.alloc(0)
    const socket = connect(this.#path())
    this.#socket = socket
    // the server speaks first
    const greeted = this.#send({
      commands: this.#greeting,
      inquired: null,
      left: this.#greeting.length + 1,
    })
    greeted.then(
      () => this.answers(),
      (error: Error) => this.#socket === socket && this.#end(error.message),
    )
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', (error) => {
      problem = `is not reached (${systemCodeOf(error)})`
    })
    socket.on('close', () => {
      if (this.#socket === socket) this.#end(problem)
    })
  }

  #check(): void {
    if (this.#socket === null) return this.#connect()
    // after answers that wait to be read: this process itself may have been stopped
    setImmediate(() => {
      const [first] = this.#queue
      const silentMs = first === undefined ? 0 : performance.now() - first.sentMs
      if (silentMs > DEADLINE_MS) return this.#end('did not answer in time')
      if (silentMs > SILENT_MS) return this.isAway('does not answer')
      if (first === undefined)
        this.#send({ commands: ['NOP'], inquired: null, left: 1 }).catch(() => {})
    })
  }

  /** Cuts bytes into lines, and zeroes them: they may hold a secret. */
  #read(chunk: Buffer): void {
    const socket = this.#socket
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, at)) {
      const isKnown = end - at <= LINE_MAX && this.#receive(bytes.subarray(at, end))
      if (!isKnown) this.#end('does not speak the protocol of gpg-agent')
      if (socket !== this.#socket) break
      at = end + 1
    }
    this.#rest = Buffer.from(bytes.subarray(at))
    if (this.#rest.length > LINE_MAX) this.#end('does not speak the protocol of gpg-agent')
    bytes.fill(0)
    chunk.fill(0)
  }

  /** @returns false for a line that answers no command */
  #receive(line: Buffer): boolean {
    const [, kind = '', code] =
      /^(OK|ERR|D|S|INQUIRE|#)(?: (\d{1,10}))?/.exec(line.toString('latin1')) ?? []
    if (kind === 'S' || kind === '#') return true
    const [first] = this.#queue
    if (first === undefined || kind === '') return false
    if (kind === 'D') return this.#keep(first, line)
    if (kind === 'INQUIRE') return this.#inform(first)
    if (kind === 'ERR') first.error ??= new AssuanError(Number(code) & 0xffff)
    if (--first.left === 0) this.#settle(first)
    return true
  }

  #keep(exchange: CommandBatch, line: Buffer): boolean {
    const data = unescape(line.subarray(2))
    exchange.bytes += data.length
    exchange.data.push(data)
    return exchange.bytes <= ANSWER_MAX
  }

  #inform(exchange: CommandBatch): boolean {
    const { inquired } = exchange
    exchange.inquired = null
    this.#socket?.write(inquired === null ? 'CAN\n' : Buffer.concat([...dataLines(inquired), END]))
    return true
  }

  #settle(exchange: CommandBatch): void {
    this.#queue.shift()
    const data = Buffer.concat(exchange.data)
    for (const part of exchange.data) part.fill(0)
    if (exchange.error === null) exchange.resolve(data)
    else exchange.reject(exchange.error)
    if (!this.state.isReachable && this.#socket !== null) this.answers()
    const [next] = this.#queue
    if (next !== undefined) this.#begin(next)
  }

  /** Ends the connection, with all that was asked. */
  #end(reason: string): void {
    this.#socket?.destroy()
    this.#socket = null
    this.isAway(reason)
    for (const { reject } of this.#queue.splice(0)) reject(new AssuanUnreachableError(reason))
  }
}

const END = Buffer.from('END\n')
/** So many bytes fit into a line, were each of them escaped. */
const PIECE = Math.floor((LINE_MAX - 2) / 3)

/** Data as lines `D`, with percent, CR and LF escaped. */
function* dataLines(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += PIECE) {
    const piece = data.subarray(at, at + PIECE).toString('latin1')
    const escaped = piece.replace(/[%\r\n]/g, (one) => encodeURIComponent(one))
    yield Buffer.from(`D ${escaped}\n`, 'latin1')
  }
}

/** Undoes the escapes of a line `D`, into memory of its own. */
function unescape(line: Buffer): Buffer {
  const bytes = Buffer.alloc(line.length)
  let length = 0
  for (let at = 0; at < line.length; at++) {
    const code =
      line[at] === 0x25 ? Number.parseInt(line.toString('latin1', at + 1, at + 3), 16) : NaN
    bytes[length++] = Number.isNaN(code) ? (line[at] ?? 0) : code
    if (!Number.isNaN(code)) at += 2
  }
  return bytes.subarray(0, length)
}
