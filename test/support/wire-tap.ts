/** Stands between a sidecar and its database, and counts what goes over the wire. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cluster } from './postgres.ts'

const SOCKET = '.s.PGSQL.5432'
/** Of a message: its type and its length, which counts itself (PostgreSQL, 54.7). */
const TYPE_BYTES = 1
const LENGTH_BYTES = 4
/** Asked by the way, and nothing that a bot does waits for it. */
const BY_THE_WAY = /^\s*(SELECT (1$|pg_advisory_unlock|set_config)|WITH (given|living))/

const TIMES = 5

/**
 * Questions that were on their way together: none of them had to wait for the answer to another. The
 * next round trip begins with the first question after an answer.
 */
export type RoundTrip = readonly string[]

export class WireTap implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pg-tap-'))
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #trips: string[][] = []
  #isAnswered = true
  readonly #asked: string[] = []

  private constructor(cluster: Cluster) {
    this.#server = createServer((sidecar) => {
      this.#carry(sidecar, connect(join(cluster.folder, SOCKET)))
    })
  }

  static async start(cluster: Cluster): Promise<WireTap> {
    const tap = new WireTap(cluster)
    await new Promise<void>((resolve) => {
      tap.#server.listen(join(tap.#folder, SOCKET), resolve)
    })
    return tap
  }

  /** What a sidecar is given as `store.url`. */
  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string): string {
    return `postgres://postern@/${database}?host=${encodeURIComponent(this.#folder)}`
  }

  /** The SQL of every question, those that nothing waits for too. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /**
   * Runs something. @returns the round trips meanwhile, of all connections together, with the SQL of
   * each question. What is written later counts too, when it falls into this time.
   */
  async during(run: () => Promise<unknown>): Promise<RoundTrip[]> {
    this.#trips = []
    this.#isAnswered = true
    await run()
    return this.#trips
  }

  /**
   * Does something several times, since what is written later may fall into some of them.
   * @param between done before each, and not counted
   * @returns the round trips of the time that had the fewest, and of these the fewest questions
   */
  async fewest(
    act: () => Promise<unknown>,
    between?: () => Promise<unknown>,
  ): Promise<RoundTrip[]> {
    const all: RoundTrip[][] = []
    for (let n = 0; n < TIMES; n++) {
      await between?.()
      all.push(await this.during(act))
    }
    const questions = (trips: RoundTrip[]): number => trips.flat().length
    const fewest = all.toSorted((a, b) => a.length - b.length || questions(a) - questions(b))
    return fewest[0] ?? []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #carry(sidecar: Socket, database: Socket): void {
    let sql = ''
    const asked = new Messages({ isFirstUntyped: true }, (type, body) => {
      if (type === 'P') sql = textsIn(body)[1] ?? ''
      if (type === 'Q') sql = textsIn(body)[0] ?? ''
      if (type === 'Q' || type === 'S') this.#ask(sql)
    })
    const answered = new Messages({ isFirstUntyped: false }, (type) => {
      // ready for the next question
      if (type === 'Z') this.#isAnswered = true
    })
    this.#join(sidecar, database, asked)
    this.#join(database, sidecar, answered)
  }

  #ask(sql: string): void {
    this.#asked.push(sql)
    if (BY_THE_WAY.test(sql)) return
    if (this.#isAnswered) this.#trips.push([])
    this.#isAnswered = false
    this.#trips.at(-1)?.push(sql)
  }

  #join(from: Socket, to: Socket, messages: Messages): void {
    this.#sockets.add(from)
    from.on('data', (piece: Buffer) => {
      messages.take(piece)
      to.write(piece)
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

/** Takes one direction of a connection apart. */
class Messages {
  readonly #onMessage: (type: string, body: Buffer) => void
  /** The first message of a client has no type. */
  #typeBytes: number
  #rest: Buffer = Buffer.alloc(0)

  constructor(
    { isFirstUntyped }: { isFirstUntyped: boolean },
    onMessage: (type: string, body: Buffer) => void,
  ) {
    this.#typeBytes = isFirstUntyped ? 0 : TYPE_BYTES
    this.#onMessage = onMessage
  }

  take(piece: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, piece])
    for (;;) {
      const head = this.#typeBytes + LENGTH_BYTES
      if (this.#rest.length < head) return
      const end = this.#typeBytes + this.#rest.readInt32BE(this.#typeBytes)
      if (this.#rest.length < end) return
      const type = this.#rest.toString('latin1', 0, this.#typeBytes)
      this.#onMessage(type, this.#rest.subarray(head, end))
      this.#rest = this.#rest.subarray(end)
      this.#typeBytes = TYPE_BYTES
    }
  }
}

/** The strings at the beginning of a message, each of which ends with a NUL. */
const textsIn = (body: Buffer): string[] => body.toString('utf8').split('\0')
