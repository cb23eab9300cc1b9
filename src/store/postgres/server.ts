import { Kysely, PostgresDialect } from 'kysely'
import { Listeners } from '../../util/listeners.ts'
import type { Schema } from '../schema.ts'
import { parseAddress, type DatabaseAddress } from './address.ts'
import { Connections } from './connections.ts'
import { isOfTheDatabase, ReadOnlyDatabaseError } from './failures.ts'
import { LockHolders } from './lock-holders.ts'
import { Session } from './session.ts'

/** Whether the session may write: never on a standby, whose answers may be behind, too. */
export const IS_READ_ONLY = `current_setting('transaction_read_only') AS read_only`

/**
 * A database server as one process uses it: a session that says how things are, and a pool for
 * queries. The stores of several bots can share it, each with a schema of its own.
 */
export class PostgresServer implements AsyncDisposable {
  readonly address: DatabaseAddress
  readonly session: Session
  /** Who else uses which store. */
  readonly holders: LockHolders
  readonly #connections: Connections
  /** By schema: each takes its turn beside the others. */
  readonly #databases = new Map<string, Kysely<Schema>>()
  readonly #changes = new Listeners<boolean>()
  #isReachable = true
  #asking: Promise<void> | null = null
  #isClosed = false

  /**
   * Makes no connection yet.
   * @param o `isOfSeveral`: the stores of several bots share it
   * @throws OperatorError `settings` when the URL is wrong
   */
  constructor(o: { url: string; caFile?: string | undefined; isOfSeveral?: boolean }) {
    this.address = parseAddress(o.url, o.caFile)
    this.session = new Session(this.address)
    this.session.onLost((how) => (how === 'silent' ? this.#lose() : this.#suspect()))
    this.holders = new LockHolders((text, parameters) => this.ask(text, parameters), this.session)
    this.#connections = new Connections(this.address, {
      isOfSeveral: o.isOfSeveral ?? false,
      suspect: () => this.#suspect(),
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

  /** Calls back with false when the database is lost, with true when it is back. */
  onReachable(listener: (isReachable: boolean) => void): () => void {
    return this.#changes.add(listener)
  }

  get isReachable(): boolean {
    return this.#isReachable
  }

  /**
   * Asks the session, and tells the listeners what that says of the database.
   * @param text may select `IS_READ_ONLY`
   * @throws ConnectionLostError, ReadOnlyDatabaseError, or an error of pg
   */
  async ask<Row extends Record<string, unknown>>(
    text: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> {
    try {
      const rows = await this.session.query<Row>(text, parameters)
      if (rows[0]?.['read_only'] === 'on') throw new ReadOnlyDatabaseError()
      this.#set(true)
      return rows
    } catch (error) {
      if (isOfTheDatabase(error)) this.#lose()
      throw error
    }
  }

  /** Sees whether the database answers, when it is lost; those that ask together ask once. */
  async ensure(): Promise<void> {
    if (!this.#isReachable) await this.#probe()
  }

  /** It takes no writes any more: what is connected is not the primary. */
  lose(): void {
    this.#lose()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const db of this.#databases.values()) await db.destroy()
    await this.#connections[Symbol.asyncDispose]().catch(() => undefined)
    await this.session[Symbol.asyncDispose]()
  }

  #suspect(): void {
    if (!this.#isClosed) this.#probe().catch(() => undefined)
  }

  #probe(): Promise<void> {
    this.#asking ??= this.ask(`SELECT ${IS_READ_ONLY}`)
      .then(() => undefined)
      .finally(() => (this.#asking = null))
    return this.#asking
  }

  #lose(): void {
    this.session.cut()
    this.#connections.cut()
    this.#set(false)
  }

  #set(isReachable: boolean): void {
    if (this.#isReachable === isReachable || this.#isClosed) return
    this.#isReachable = isReachable
    this.#changes.emit(isReachable)
  }
}
