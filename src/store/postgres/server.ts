import { Kysely, PostgresDialect } from 'kysely'
import type { ClientBase } from 'pg'
import { Listeners } from '../../util/listeners.ts'
import type { Schema } from '../schema.ts'
import type { Reachability } from '../store.ts'
import { parseAddress, type DatabaseAddress } from './address.ts'
import { Connections } from './connections.ts'
import { kindOf, ReadOnlyDatabaseError } from './failures.ts'
import { quoted } from './schema.ts'
import { Session, type Question } from './session.ts'
import { Timelines, type Timeline } from './timeline.ts'

/** Whether the session may write: never on a standby, whose answers may be behind, too. */
export const IS_READ_ONLY = `current_setting('transaction_read_only') AS read_only`

/** The question for the epoch of a store, and whether its server takes writes. */
export const epochIn = (schema: string): string =>
  `SELECT epoch, ${IS_READ_ONLY} FROM ${quoted(schema)}.state`

/**
 * A database server as one process uses it: a session that says how things are, and a pool for
 * queries. The stores of several bots can share it, each with a schema of its own.
 */
export class PostgresServer implements AsyncDisposable {
  readonly address: DatabaseAddress
  readonly session: Session
  /** Names no schema by itself. */
  readonly db: Kysely<Schema>
  readonly #connections: Connections
  readonly #timelines = new Timelines()
  readonly #changes = new Listeners<Reachability>()
  #reachability: Reachability = 'reachable'
  #asking: Promise<void> | null = null
  #isClosed = false

  /**
   * Makes no connection yet.
   * @throws OperatorError `settings` when the URL is wrong
   */
  constructor({ url, caFile }: { url: string; caFile?: string | undefined }) {
    this.address = parseAddress(url, caFile)
    const admit = (client: ClientBase): Promise<void> => this.#admit(client)
    this.session = new Session(this.address, admit)
    this.session.onLost((how) => (how === 'silent' ? this.#lose() : this.#suspect()))
    const suspect = (): void => this.#suspect()
    this.#connections = new Connections(this.address, { suspect, admit })
    this.db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: this.#connections }) })
  }

  /** Calls back when the database is lost, and when it is back. */
  onReachability(listener: (now: Reachability) => void): () => void {
    return this.#changes.add(listener)
  }

  /** Where connections lead, as far as the server says it. */
  get timeline(): Timeline | null {
    return this.#timelines.newest
  }

  get reachability(): Reachability {
    return this.#reachability
  }

  /**
   * Asks the session, and tells the listeners what that says of the database.
   * @param text may select `IS_READ_ONLY`
   * @throws ConnectionLostError, ReadOnlyDatabaseError, RolledBackError, or an error of pg
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
      if (answers.some(([first]) => first?.['read_only'] === 'on'))
        throw new ReadOnlyDatabaseError()
      this.#set('reachable')
      return answers
    } catch (error) {
      const kind = kindOf(error)
      if (kind === 'rolled-back') this.#lose('rolled-back')
      else if (kind !== 'mistake') this.#lose()
      throw error
    }
  }

  /** Sees whether the database answers, when it is lost; those that ask together ask once. */
  async ensure(): Promise<void> {
    if (this.#reachability !== 'reachable') await this.#probe()
  }

  /** It takes no writes any more: what is connected is not the primary. */
  lose(): void {
    this.#lose()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.db.destroy()
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

  /** Behind a promoted standby, nothing may go on with what it was promoted from. */
  async #admit(client: ClientBase): Promise<void> {
    const isPromoted = await this.#timelines.admit(client)
    if (!isPromoted) return
    this.session.cut()
    this.#connections.cut(client)
  }

  #lose(now: Exclude<Reachability, 'reachable'> = 'unreachable'): void {
    this.session.cut()
    this.#connections.cut()
    this.#set(now)
  }

  #set(now: Reachability): void {
    if (this.#reachability === now || this.#isClosed) return
    this.#reachability = now
    this.#changes.emit(now)
  }
}
