import { Kysely, PostgresDialect } from 'kysely'
import type { ClientBase } from 'pg'
import { Listeners } from '../../util/listeners.ts'
import type { Schema } from '../schema.ts'
import type { Reachability } from '../store.ts'
import { parseAddress, type DatabaseAddress } from './address.ts'
import { requireSettings, withClient, type ClientUse } from './client.ts'
import { CONNECT_MS } from './times.ts'
import { QueryConnections } from './connections.ts'
import { isOfDatabase, kindOf, requireWritable, rolledBack } from './failures.ts'
import { RestingStores } from './resting-stores.ts'
import { IS_READ_ONLY } from './schema.ts'
import { Session, type Question } from './session.ts'
import { isBehind, readTimeline, type Timeline } from './timeline.ts'
import { TurnWaits } from './turn-waits.ts'

/**
 * One process's connections to a database server: a session that monitors the server, and a pool
 * for queries. The stores of several bots can share it, each with a schema of its own.
 */
export class PostgresServer implements AsyncDisposable {
  readonly address: DatabaseAddress
  readonly session: Session
  readonly restingStores = new RestingStores(this)
  readonly turnWaits: TurnWaits
  readonly #connections: QueryConnections
  /** By schema, each with a lane of the pool. */
  readonly #databases = new Map<string, Kysely<Schema>>()
  readonly #isOfSeveral: boolean
  readonly #changes = new Listeners<Reachability>()
  /** Calls back when the database is lost, and when it is back. */
  readonly onReachability = this.#changes.add
  #timeline: Timeline | null = null
  #reachability: Reachability = 'reachable'
  #asking: Promise<void> | null = null
  #isLookingAnew = false
  #isClosed = false

  /**
   * Makes no connection yet.
   * @param o `isOfSeveral`: the stores of several bots share it
   * @throws OperatorError `settings` when the URL is wrong
   */
  constructor(o: { url: string; caFile?: string | undefined; isOfSeveral?: boolean }) {
    const { isOfSeveral = false } = o
    this.address = parseAddress(o.url, o.caFile)
    this.#isOfSeveral = isOfSeveral
    const admit = (client: ClientBase): Promise<void> => this.#admit(client, 'session')
    this.session = new Session(this.address, admit, () => this.turnWaits.ask())
    this.turnWaits = new TurnWaits(this)
    this.session.onLost((how) => (how === 'silent' ? this.lose() : this.#suspect()))
    this.#connections = new QueryConnections(this.address, {
      isOfSeveral,
      suspect: () => this.#suspect(),
      findBusy: (pids) => this.#findBusy(pids),
      admit: (client) => this.#admit(client, 'pool'),
    })
  }

  /** For the queries of one store; it names no schema by itself. */
  databaseFor(schema: string): Kysely<Schema> {
    const known = this.#databases.get(schema)
    if (known !== undefined) return known
    const pool = this.#connections.lane()
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
    this.#databases.set(schema, db)
    return db
  }

  /** The server's timeline; null before a connection, and where the server does not report it. */
  get timeline(): Timeline | null {
    return this.#timeline
  }

  get reachability(): Reachability {
    return this.#reachability
  }

  /**
   * Queries by the session, and notifies the listeners of changed reachability.
   * @param text may select `IS_READ_ONLY`
   * @throws PostgresError `lost`, `read-only`, `rolled-back`; an error of pg
   */
  async ask<Row extends Record<string, unknown>>(
    text: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> {
    const [rows = []] = await this.askAll<Row>([{ text, parameters }])
    return rows
  }

  /** The same for several questions in one round trip (`Session.queryAll`). @throws as `ask` does */
  async askAll<Row extends Record<string, unknown>>(
    questions: readonly Question[],
  ): Promise<Row[][]> {
    try {
      const answers = await this.session.queryAll<Row>(questions)
      for (const [first] of answers) requireWritable(first?.['read_only'])
      this.#set('reachable')
      return answers
    } catch (error) {
      if (kindOf(error) === 'rolled-back') this.lose('rolled-back')
      else if (isOfDatabase(error)) this.lose()
      throw error
    }
  }

  /** Sees whether the database answers, when it is lost; those that ask together ask once. */
  async ensure(): Promise<void> {
    if (this.#reachability !== 'reachable') await this.probe()
  }

  /** Cuts every connection: the server is not the primary, or does not answer. */
  lose(now: Exclude<Reachability, 'reachable'> = 'unreachable'): void {
    this.session.cut()
    this.#connections.cut()
    this.#set(now)
  }

  /**
   * A store's content is behind the last known epoch: the server may be a former primary, and the
   * address may now belong to another one. Stores of other bots are cut off only when it does.
   */
  doubt(): void {
    // oxlint-disable-next-line typescript/no-floating-promises -- #lookAnew catches its errors
    if (this.#isOfSeveral && this.timeline !== null) void this.#lookAnew()
    else this.session.cut()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const db of this.#databases.values()) await db.destroy()
    await this.#connections[Symbol.asyncDispose]().catch(() => undefined)
    await this.session[Symbol.asyncDispose]()
  }

  #suspect(): void {
    if (!this.#isClosed) this.probe().catch(() => undefined)
  }

  /** Asks whether the database answers; those that ask together ask once. @throws as `ask` does */
  probe(): Promise<void> {
    this.#asking ??= this.ask(`SELECT ${IS_READ_ONLY}`)
      .then(() => undefined)
      .finally(() => (this.#asking = null))
    return this.#asking
  }

  /** Which of our processes at the server run a query now. */
  async #findBusy(pids: number[]): Promise<number[]> {
    const rows = await this.session.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND state = 'active'`,
      [pids],
    )
    return rows.map(({ pid }) => pid)
  }

  /** Sees where a new connection leads. */
  async #lookAnew(): Promise<void> {
    if (this.#isLookingAnew || this.#isClosed) return
    this.#isLookingAnew = true
    const admit = (client: ClientBase): Promise<void> => this.#admit(client, 'session')
    await withClient(this.address, CONNECT_MS * 2, admit).catch((error: unknown) => {
      if (isOfDatabase(error)) this.#suspect()
    })
    this.#isLookingAnew = false
  }

  /**
   * Checks a new connection. Once a promoted standby was seen, its former primary is refused, as is
   * another cluster, and older connections are no longer used.
   * @throws PostgresError `pooled`, `rolled-back`; an error of pg
   */
  async #admit(client: ClientBase, use: ClientUse): Promise<void> {
    const settings = requireSettings(client, use)
    const [found] = await Promise.all([readTimeline(client), settings])
    if (found === null) return
    const newest = this.#timeline
    if (newest !== null && isBehind(found, newest)) throw rolledBack()
    this.#timeline = found
    if (newest === null || found.timelineId === newest.timelineId) return
    this.session.cut()
    this.#connections.cut(client)
  }

  #set(now: Reachability): void {
    if (this.#reachability === now || this.#isClosed) return
    this.#reachability = now
    this.#changes.emit(now)
  }
}
