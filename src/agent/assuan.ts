/**
 * A client of an Assuan server, the line protocol of gpg-agent (libassuan, "Assuan Protocol"), over
 * one connection that it opens again by itself. The server answers commands one after the other.
 */
import { connect, type Socket } from 'node:net'
import { systemCodeOf } from '../errors.ts'
import { findSocket, type AssuanSocket } from './assuan-socket.ts'
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

/** Errors of libgpg-error. */
const REFUSALS: Readonly<Record<number, string>> = {
  11: 'has the key under another passphrase',
  17: 'has no secret key',
  85: 'would have to ask for a passphrase: use the key once with gpg, or take the passphrase off',
  99: 'would have to ask for a passphrase: use the key once with gpg, or take the passphrase off',
  251:
    'is asked over its restricted socket (S.gpg-agent.extra or .browser): name S.gpg-agent in ' +
    '`key.agent`',
}
const NO_PINENTRY = 85

/** Commands that are sent together. */
export interface AssuanCommands {
  commands: readonly string[]
  /** Sent when the server inquires, once. */
  inquired?: Buffer | undefined
}

/** The same, and the answers to them. */
interface CommandBatch extends AssuanCommands, PromiseWithResolvers<Buffer> {
  /** Answers that are missing yet. */
  left: number
  error: AssuanError | null
  /** Decoded data of the answers. */
  data: Buffer[]
  bytes: number
  sentMs: number
}

function batchOf(o: AssuanCommands & { answers?: number }): CommandBatch {
  const { commands, inquired, answers: left = commands.length } = o
  const begun = { left, error: null, data: [], bytes: 0, sentMs: 0 }
  return { commands, inquired, ...begun, ...Promise.withResolvers<Buffer>() }
}

/** The server refused a command. */
export class AssuanError extends Error {
  override name = 'AssuanError'
  /** Of libgpg-error, without its source. */
  readonly code: number
  /** Whether it is about the key that is to be used. */
  readonly isOfKey: boolean

  constructor(code: number) {
    super(REFUSALS[code] ?? `refused (libgpg-error ${code})`)
    this.code = code
    this.isOfKey = code in REFUSALS
  }
}

export class AssuanClient extends HolderReach {
  readonly #file: () => string
  readonly #greeting: readonly string[]
  readonly #timer: NodeJS.Timeout
  readonly #queue: CommandBatch[] = []
  #socket: Socket | null = null
  #rest: Buffer = Buffer.alloc(0)
  /** Where the connection leads, and since when. */
  #place: AssuanSocket | null = null
  #sinceMs = 0
  #isGreeted = false
  /** Another server may listen now: it connects anew, once the commands under way are answered. */
  #isStale = false

  /**
   * @param file gives the server's socket, each time that it connects
   * @param greeting commands that are sent first on each connection
   */
  constructor(file: () => string, greeting: readonly string[]) {
    super()
    this.#file = file
    this.#greeting = greeting
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
    this.#connect()
  }

  /**
   * Sends commands together, when those before are answered.
   * @returns the data of the answers, to be zeroed after use
   * @throws AssuanError; Error where the server does not answer, or not by the protocol
   */
  async ask(o: AssuanCommands): Promise<Buffer> {
    await this.known
    if (this.#socket === null) throw new Error(this.state.reason)
    return await this.#send(o)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#end('was left')
  }

  #send(o: AssuanCommands): Promise<Buffer> {
    const exchange = batchOf(o)
    if (this.#queue.push(exchange) === 1) this.#begin(exchange)
    return exchange.promise
  }

  #begin(exchange: CommandBatch): void {
    exchange.sentMs = performance.now()
    if (exchange.commands.length > 0) this.#socket?.write(`${exchange.commands.join('\n')}\n`)
  }

  /** Connects, in place of a connection that there is; commands that were not sent yet follow. */
  #connect(): void {
    this.#socket?.destroy()
    this.#rest = Buffer.alloc(0)
    this.#isGreeted = false
    this.#isStale = false
    this.#sinceMs = performance.now()
    try {
      this.#place = findSocket(this.#file())
    } catch (error) {
      return this.#end((error as Error).message)
    }
    let problem = 'closed the connection'
    const socket = connect(this.#place.path)
    this.#socket = socket
    // the server speaks first
    const greeting = batchOf({ commands: this.#greeting, answers: this.#greeting.length + 1 })
    this.#queue.unshift(greeting)
    this.#begin(greeting)
    const isCurrent = (): boolean => this.#socket === socket
    greeting.promise.then(
      () => isCurrent() && this.#greeted(),
      (error: Error) => isCurrent() && this.#end(error.message),
    )
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', (error) => {
      problem = `is not reached (${systemCodeOf(error)})`
    })
    socket.on('close', () => isCurrent() && this.#end(problem))
  }

  #greeted(): void {
    this.#isGreeted = true
    this.answers()
  }

  #check(): void {
    if (this.#place?.hasMoved() === true) this.#isStale = true
    const isIdle = this.#queue.length === 0
    if (this.#socket === null || (this.#isStale && isIdle)) return this.#connect()
    // after answers that wait to be read: this process itself may have been stopped
    setImmediate(() => {
      const [first] = this.#queue
      const silentMs = first === undefined ? 0 : performance.now() - first.sentMs
      if (silentMs > DEADLINE_MS) return this.#end('did not answer in time')
      if (silentMs > SILENT_MS) return this.isAway('does not answer')
      if (first === undefined) this.#send({ commands: ['NOP'] }).catch(() => {})
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
    const isSame = socket === this.#socket
    this.#rest = isSame ? Buffer.from(bytes.subarray(at)) : Buffer.alloc(0)
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
    exchange.inquired = undefined
    this.#socket?.write(
      inquired === undefined ? 'CAN\n' : Buffer.concat([...dataLines(inquired), END]),
    )
    return true
  }

  #settle(exchange: CommandBatch): void {
    this.#queue.shift()
    const data = Buffer.concat(exchange.data)
    for (const part of exchange.data) part.fill(0)
    if (exchange.error === null) exchange.resolve(data)
    else exchange.reject(exchange.error)
    if (!this.state.isReachable && this.#isGreeted) this.answers()
    const isOld = performance.now() - this.#sinceMs > CHECK_MS
    if (exchange.error?.code === NO_PINENTRY && isOld) this.#isStale = true
    if (this.#isStale) return this.#connect()
    const [next] = this.#queue
    if (next !== undefined) this.#begin(next)
  }

  /** Ends the connection, with all that was asked. */
  #end(reason: string): void {
    this.#socket?.destroy()
    this.#socket = null
    this.#isGreeted = false
    this.isAway(reason)
    for (const { reject } of this.#queue.splice(0)) reject(new Error(reason))
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
