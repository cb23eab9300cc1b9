/** The sidecar's end of the socket: a `KeyHolder` over one connection, which it opens again by itself. */
import { connect, type Socket } from 'node:net'
import { KeyHolderUnavailableError, systemCodeOf } from '../errors.ts'
import type { HeldSessionKey, KeyHolder } from '../openpgp/index.ts'
import { ASK, FrameReader, PACKET_MAX, PROTOCOL } from './frames.ts'
import { readSessionKeys, STATUS, writeFrame, writeTogether } from './frames.ts'
import type { AskName, Frame } from './frames.ts'
import { HolderReach } from './holder-reach.ts'

/** Time between two hellos, within which the first must be answered. */
const HELLO_MS = 750
/** A new key is made by openpgp.js, and certified. */
const DEADLINE_MS = { hello: HELLO_MS, sign: 10_000, unwrap: 10_000, make: 30_000 }
/** More are under way only where somebody asks without end. */
const UNDER_WAY_MAX = 10_000

const REFUSED: Readonly<Record<number, string>> = {
  [STATUS.unknownKey]: 'has no such key',
  [STATUS.malformed]: 'does not take the question',
  [STATUS.tooMany]: 'was asked too often (its `--signatures` and `--session-keys`)',
  [STATUS.failed]: 'could not do it; its log says why',
}

/** Asks an agent; `KeyHolder` documents its methods. */
export class AgentClient extends HolderReach implements KeyHolder {
  readonly #path: string
  readonly #pending = new Map<number, PromiseWithResolvers<Buffer> & { untilMs: number }>()
  readonly #timer: NodeJS.Timeout
  #socket: Socket | null = null
  #nextId = 0

  /** @param path of the agent's socket, absolute */
  constructor(path: string) {
    super()
    this.#path = path
    this.#connect()
    this.#timer = setInterval(() => this.#check(), HELLO_MS).unref()
  }

  get connection(): object | null {
    return this.#socket
  }

  async sign({ by, digest }: Parameters<KeyHolder['sign']>[0]): Promise<Buffer> {
    const numbers = await this.#ask('sign', ofKey(by.fingerprint, digest))
    if (numbers.length === 64) return numbers
    throw this.#unavailable('gave no signature')
  }

  async unwrap({ to, packet }: Parameters<KeyHolder['unwrap']>[0]): Promise<HeldSessionKey[]> {
    // a refusal by the agent would hold up all updates behind the message
    if (packet.length > PACKET_MAX) return []
    const answer = await this.#ask('unwrap', ofKey(to.fingerprint, packet))
    const keys = readSessionKeys(answer)
    answer.fill(0)
    if (keys !== null) return keys
    throw this.#unavailable('gave no session keys')
  }

  async make(asked: Parameters<KeyHolder['make']>[0]): Promise<string> {
    return (await this.#ask('make', Buffer.from(JSON.stringify(asked)))).toString('utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#end('was left')
  }

  async #ask(name: AskName, body: Buffer): Promise<Buffer> {
    if (this.#socket === null || !this.state.isReachable) {
      await this.known
      if (!this.state.isReachable) throw this.#unavailable(this.state.reason)
    }
    return await this.#send(name, body)
  }

  async #send(name: AskName, body: Buffer): Promise<Buffer> {
    if (this.#pending.size >= UNDER_WAY_MAX) throw this.#unavailable('has too many questions')
    const id = (this.#nextId = (this.#nextId + 1) >>> 0)
    const untilMs = performance.now() + DEADLINE_MS[name]
    const pending = { untilMs, ...Promise.withResolvers<Buffer>() }
    this.#pending.set(id, pending)
    if (this.#socket !== null)
      writeTogether(this.#socket, writeFrame({ id, kind: ASK[name], body }))
    return await pending.promise
  }

  #connect(): void {
    const socket = connect(this.#path)
    const reader = new FrameReader()
    let problem = 'closed the connection'
    this.#socket = socket
    socket.on('connect', () => this.#hello())
    socket.on('data', (chunk) => {
      if (!reader.read(chunk, (frame) => this.#receive(frame))) {
        socket.destroy(new Error('no frame'))
      }
    })
    socket.on('error', (error) => {
      problem = `is not reached (${systemCodeOf(error)})`
    })
    socket.on('close', () => {
      if (this.#socket === socket) this.#end(problem)
    })
  }

  /** Connects again, or sees that the agent still answers. */
  #check(): void {
    if (this.#socket === null) return this.#connect()
    if (this.#socket.connecting) return
    const nowMs = performance.now()
    // after answers that wait to be read: this process itself may have been stopped
    setImmediate(() => this.#expire(nowMs))
    this.#hello()
  }

  #expire(nowMs: number): void {
    for (const [id, { untilMs, reject }] of this.#pending) {
      if (untilMs > nowMs) continue
      this.#pending.delete(id)
      reject(this.#unavailable('did not answer in time'))
    }
  }

  /** An agent of another version, or one that does not answer, is not asked. */
  #hello(): void {
    const socket = this.#socket
    this.#send('hello', Buffer.of(PROTOCOL)).then(
      (answer) => {
        if (answer.length === 1 && answer[0] === PROTOCOL) return this.answers()
        return this.#end('is of another version')
      },
      () => {
        if (this.#socket === socket) this.#end('does not answer')
      },
    )
  }

  #receive({ id, kind, body }: Frame): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    const refused = kind === STATUS.done ? null : (REFUSED[kind] ?? 'answers what nobody knows')
    if (refused === null) pending.resolve(Buffer.from(body))
    else pending.reject(this.#unavailable(refused))
  }

  /** Ends the connection, with every question. */
  #end(reason: string): void {
    this.#socket?.destroy()
    this.#socket = null
    this.isAway(`${this.#path} ${reason}`)
    for (const { reject } of this.#pending.values()) reject(this.#unavailable(reason))
    this.#pending.clear()
  }

  #unavailable(why: string): KeyHolderUnavailableError {
    return new KeyHolderUnavailableError(`the key agent at ${this.#path} ${why}`)
  }
}

/** The body of a question about a key. */
const ofKey = (fingerprint: string, data: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(fingerprint, 'hex'), data])
