import type { QueryResultRow } from 'pg'
import { Listeners } from '../../util/listeners.ts'
import type { DatabaseAddress } from './address.ts'
import { clientOptions, DatabaseClient } from './client.ts'
import { kindOf, PostgresError } from './failures.ts'
import { BEGIN_PROCESS, NOTIFIED } from './schema.ts'
import { ANSWER_MS, BEAT_MS, PROVEN_MS } from './times.ts'

/** A query, with the values of `$1` and so on. */
export interface Question {
  text: string
  parameters?: unknown[]
}

const NEVER = { monotonicMs: -Infinity, dayMs: -Infinity }

type AdmitClient = (client: DatabaseClient) => Promise<void>

/** `ended`: the connection is gone, and the database may be there; `silent`: it did not answer. */
export type SessionLoss = 'ended' | 'silent'

/**
 * The one connection that lives as long as the store: its answers are current, and its locks are
 * held as long as it lives. It is made on demand, also after a loss, and then asks again and again:
 * the server ends it when it is silent.
 */
export class Session implements AsyncDisposable {
  readonly #address: DatabaseAddress
  readonly #admit: AdmitClient
  readonly #ask: () => Promise<unknown>
  readonly #notifications = new Listeners<string>()
  /** Calls back with what a process has notified of (`TurnWaits`), this one too. */
  readonly onNotified = this.#notifications.add
  readonly #losses = new Listeners<SessionLoss>()
  /** Calls back when the connection was lost, with all of its locks. */
  readonly onLost = this.#losses.add
  #connecting: Promise<DatabaseClient> | null = null
  #client: DatabaseClient | null = null
  #beat: NodeJS.Timeout | null = null
  #provenAt = NEVER
  #generation = 0
  #isClosed = false

  /**
   * @param admit checks a new connection before its use, and throws when it must not be used
   * @param ask the query of each beat
   */
  constructor(address: DatabaseAddress, admit: AdmitClient, ask: () => Promise<unknown>) {
    this.#address = address
    this.#admit = admit
    this.#ask = ask
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
    client.on('notification', ({ payload = '' }) => this.#notifications.emit(payload))
    await client.connect()
    try {
      await this.#inTime(client, this.#admit(client))
      const begun = [BEGIN_PROCESS, `LISTEN ${NOTIFIED}`].map((text) => client.query(text))
      await this.#inTime(client, Promise.all(begun))
    } catch (error) {
      client.destroy()
      throw error
    }
    this.#client = client
    this.#beat ??= setInterval(() => {
      if (this.isConnected) this.#ask().catch(() => undefined)
    }, BEAT_MS).unref()
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
    return await answer.finally(() => {
      isAnswered = true
      clearTimeout(timer)
    })
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
