import type { QueryResultRow } from 'pg'
import { Listeners } from '../util/listeners.ts'
import type { DatabaseAddress } from './address.ts'
import { clientOptions, DatabaseClient } from './client.ts'
import { kindOf, PostgresError } from './failures.ts'
import { ANSWER_MS, BEAT_MS, PROVEN_MS, SILENT_SESSION_MS } from './times.ts'

/**
 * A query, in SQL, that has the server end the session when it is silent. Versions before 14 know no
 * such setting: there the network alone ends it.
 */
export const limitSilence = (ms = SILENT_SESSION_MS): string =>
  `SELECT set_config(name, '${ms}', false) FROM pg_settings WHERE name = 'idle_session_timeout'`

/** A query, with the values of `$1` and so on. */
export interface Question {
  text: string
  parameters?: unknown[]
}

/** By `performance.now()` and by `Date.now()`. */
interface Moment {
  monotonicMs: number
  dayMs: number
}
const NEVER: Moment = { monotonicMs: -Infinity, dayMs: -Infinity }

/** `ended`: the connection is gone, and the database may be there; `silent`: it did not answer. */
export type SessionLoss = 'ended' | 'silent'

/**
 * The one connection that lives as long as the store: its answers are current, and its locks are
 * held as long as it lives. It is made on demand, also after a loss; nothing wakes it while it
 * holds no locks.
 */
export class Session implements AsyncDisposable {
  readonly #address: DatabaseAddress
  readonly #admit: (client: DatabaseClient) => Promise<void>
  readonly #losses = new Listeners<SessionLoss>()
  /** Calls back when the connection was lost, with all of its locks. */
  readonly onLost = this.#losses.add
  #connecting: Promise<DatabaseClient> | null = null
  #client: DatabaseClient | null = null
  #beat: NodeJS.Timeout | null = null
  #holders = 0
  /** Whether the server ends the present connection when it is silent. */
  #isLimited = false
  #provenAt: Moment = NEVER
  #generation = 0
  #isClosed = false

  /** @param admit checks a new connection before its use, and throws when it must not be used */
  constructor(address: DatabaseAddress, admit: (client: DatabaseClient) => Promise<void>) {
    this.#address = address
    this.#admit = admit
  }

  /** Counts connections: locks acquired under another number are lost. */
  get generation(): number {
    return this.#generation
  }

  get isConnected(): boolean {
    return this.#client !== null
  }

  /**
   * True while the server surely has this session, by the monotonic clock and by the time of day: the
   * first pauses while the machine sleeps, and the second can be set.
   */
  get isProven(): boolean {
    const { monotonicMs, dayMs } = this.#provenAt
    const passedMs = Math.max(performance.now() - monotonicMs, Date.now() - dayMs)
    return this.#client !== null && passedMs < PROVEN_MS
  }

  /**
   * Asks, and connects first where that is needed.
   * @throws PostgresError `lost` without a response in time; an error of pg
   */
  async query<Row extends QueryResultRow>(
    text: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> {
    const [rows = []] = await this.queryAll<Row>([{ text, parameters }])
    return rows
  }

  /**
   * Sends several queries in one round trip, run one after the other: each reads all commits up to
   * the end of the one before it. Queries after a failed one still run.
   * @throws as `query` does
   */
  async queryAll<Row extends QueryResultRow>(questions: readonly Question[]): Promise<Row[][]> {
    const startedAtMs = performance.now()
    const isOld = this.#client !== null
    try {
      return await this.#query<Row>(questions)
    } catch (error) {
      // a connection of before may be gone although the database is not
      const isSoon = performance.now() - startedAtMs < ANSWER_MS
      if (!isOld || !isSoon || kindOf(error) !== 'lost') throw error
      return await this.#query<Row>(questions)
    }
  }

  async #query<Row extends QueryResultRow>(questions: readonly Question[]): Promise<Row[][]> {
    const client = await this.#connected()
    const askedAt = { monotonicMs: performance.now(), dayMs: Date.now() }
    try {
      // the connection is pipelined: all of them leave at once
      const answers = questions.map(({ text, parameters = [] }) =>
        client.query<Row>(text, parameters),
      )
      const results = await this.#inTime(client, Promise.all(answers))
      const isLatest = askedAt.monotonicMs > this.#provenAt.monotonicMs
      if (client === this.#client && isLatest) this.#provenAt = askedAt
      return results.map(({ rows }) => rows)
    } catch (error) {
      if (kindOf(error) === 'lost') this.#drop(client)
      throw error
    }
  }

  /** Has the server end this session soon when it is silent, and sees that it is not, as `hold` does. */
  watch(): Disposable {
    const hold = this.hold()
    this.limited()
    void this.query(limitSilence()).catch(() => undefined)
    return hold
  }

  /** Keeps this session from being silent, until the result is disposed of, once. */
  hold(): Disposable {
    this.#holders += 1
    this.#beat ??= setInterval(() => void this.query('SELECT 1').catch(() => {}), BEAT_MS).unref()
    return { [Symbol.dispose]: () => void this.#release().catch(() => undefined) }
  }

  /** Call it after a query of one's own with `limitSilence`, while holding the session. */
  limited(): void {
    this.#isLimited = true
  }

  async #release(): Promise<void> {
    this.#holders -= 1
    if (this.#holders > 0) return
    if (this.#beat !== null) clearInterval(this.#beat)
    this.#beat = null
    if (this.#client === null || !this.#isLimited) return
    this.#isLimited = false
    await this.query(limitSilence(0))
  }

  /** Cuts the connection, and rejects its pending queries. */
  cut(): void {
    if (this.#client !== null) this.#drop(this.#client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    if (this.#beat !== null) clearInterval(this.#beat)
    const client = this.#client ?? (await this.#connecting?.catch(() => null)) ?? null
    this.#client = null
    if (client !== null) await end(client)
  }

  #connected(): Promise<DatabaseClient> {
    if (this.#isClosed) return Promise.reject(new PostgresError('lost', 'the store is closed'))
    if (this.#client !== null) return Promise.resolve(this.#client)
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = null))
    return this.#connecting
  }

  async #connect(): Promise<DatabaseClient> {
    const client = new DatabaseClient(clientOptions(this.#address, 'session'))
    client.on('error', () => this.#drop(client))
    client.on('end', () => this.#drop(client))
    await client.connect()
    try {
      await this.#inTime(client, this.#admit(client))
    } catch (error) {
      client.destroy()
      throw error
    }
    this.#client = client
    this.#isLimited = false
    this.#generation += 1
    return client
  }

  /** A deadline, which gives an answer that is there already a turn to be read. */
  async #inTime<T>(client: DatabaseClient, answer: Promise<T>): Promise<T> {
    let isAnswered = false
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!isAnswered) this.#drop(client, 'silent')
      })
    }, ANSWER_MS)
    try {
      return await answer
    } finally {
      isAnswered = true
      clearTimeout(timer)
    }
  }

  #drop(client: DatabaseClient, how: SessionLoss = 'ended'): void {
    client.destroy()
    if (client !== this.#client) return
    this.#client = null
    this.#provenAt = NEVER
    this.#losses.emit(how)
  }
}

/** Ends the connection in order, and destroys it without a response in time. */
async function end(client: DatabaseClient): Promise<void> {
  const timer = setTimeout(() => client.destroy(), ANSWER_MS)
  await client.end().catch(() => undefined)
  clearTimeout(timer)
}
