import { sql, type Kysely, type Transaction } from 'kysely'
import { fillFile } from '../carry.ts'
import { OvertakenError, Refusal } from '../../errors.ts'
import { Listeners } from '../../util/listeners.ts'
import { Mutex } from '../../util/scheduling.ts'
import { makeCopy } from '../backup.ts'
import { openExisting, type ProtectionRequest } from '../choose.ts'
import { ProtectedStore } from '../protected-store.ts'
import type { OpenProtection } from '../protection.ts'
import type { Schema } from '../schema.ts'
import { readMark } from '../flags.ts'
import type { Change, FollowedTable, LockName, LockOptions, NoteOptions } from '../store.ts'
import type { Reachability, Reread, Store, StoreLock, TurnName } from '../store.ts'
import { CommitLostError, isOfDatabase, kindOf, toRefusal } from './failures.ts'
import { EpochReader, type EpochReaderParts } from './epoch-reader.ts'
import { NamedLocks } from './locks.ts'
import { databaseOf } from './migrate.ts'
import { withRows } from './rows.ts'
import { isCommitted, runAgain, takeTurn, takeTurnAfter } from './runs.ts'
import { quoted, type Database, type PostgresSchema } from './schema.ts'

export interface PostgresStoreParts extends Omit<EpochReaderParts, 'db' | 'order'> {
  /** Null when the store has no protection and none was asked for. */
  held: OpenProtection | null
  /** How the protection is opened again after another sidecar has moved the store. */
  request: ProtectionRequest
  /** Where copies are made. */
  dataDir: string
  /** Disposed of with the store. */
  resources: AsyncDisposable
}

/** A store in a schema of PostgreSQL; `Store` documents its methods. */
export class PostgresStore extends ProtectedStore implements Store {
  readonly isShared = true
  readonly #parts: PostgresStoreParts
  readonly #db: Database
  readonly #reader: EpochReader
  readonly #locks: NamedLocks
  /** Orders writes, and reading the writes of others. */
  readonly #order = new Mutex()
  readonly #changes = new Listeners<Reachability>()
  readonly onReachability = this.#changes.add
  readonly #stopListening: () => void
  #reachability: Reachability = 'reachable'
  #isMovedAway = false

  constructor(parts: PostgresStoreParts) {
    super(parts.held)
    const { server, schema } = parts
    this.#parts = parts
    this.#db = databaseOf(server, schema)
    this.#reader = new EpochReader({ ...parts, db: this.#db, order: this.#order })
    this.#locks = new NamedLocks(server, schema)
    // after another sidecar has moved the protection: opens the new one by this one's request
    this.#reader.follow('protection', async (db) => {
      const row = await db.selectFrom('protection').selectAll().executeTakeFirst()
      this.reopen(row ? await openExisting(row, parts.request).catch(() => null) : null)
    })
    this.#reader.follow('flags', async (db) => {
      this.#isMovedAway = (await readMark(db)) !== null
    })
    this.#reader.onBehind(() => this.#report())
    this.#stopListening = server.onReachability(() => this.#report())
    server.restingStores.add(this.#reader)
  }

  get epoch(): number {
    return this.#reader.seen
  }

  async read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return await this.#ask(() => this.#again(() => query(this.#db)))
  }

  protected put<T>(
    change: Change<T>,
    onWritten?: (result: T) => void,
    mayRepeat?: true,
  ): Promise<T> {
    return this.#keep(() =>
      this.#order.run(async () => {
        const result = await this.#inOrder(change, mayRepeat)
        onWritten?.(result)
        return result
      }),
    )
  }

  async note<T>(change: Change<T>, { isOrdered, isSingle }: NoteOptions = {}): Promise<T> {
    if (this.sightings.isDue) await this.sightings.settle()
    if (isOrdered === true) return await this.put(change, undefined, true)
    const run = (db: Transaction<PostgresSchema>): Promise<T> => change(db)
    const once = (): Promise<T> =>
      isSingle === true
        ? run(this.#db as Transaction<PostgresSchema>)
        : this.#db.transaction().execute(run)
    return await this.#keep(() => this.#again(once))
  }

  async fresh(): Promise<void> {
    await this.#refusing(() => this.#again(() => this.#reader.learn()))
    this.#refuseMoved()
  }

  async keepUp(): Promise<void> {
    const isUpToDate = await this.#parts.server.restingStores.isUpToDate(this.#reader)
    if (!isUpToDate) await this.fresh()
  }

  follow(table: FollowedTable, reread: Reread): void {
    this.#reader.follow(table, reread)
  }

  async tryLock(name: LockName, o: LockOptions = {}): Promise<StoreLock | null> {
    return await this.#ask(async () => {
      const seenBefore = this.#reader.seen
      const taken = await this.#locks.take(name, o)
      if (taken !== null && o.isFresh === true) await this.#freshWith({ ...taken, seenBefore })
      return taken?.lock ?? null
    })
  }

  async untilFree(name: TurnName, signal: AbortSignal): Promise<void> {
    const { server, schema } = this.#parts
    await server.turnWaits.untilFree(schema, name, signal)
  }

  async isWanted(name: TurnName): Promise<boolean> {
    const { server, schema } = this.#parts
    return await this.#ask(() => server.turnWaits.isWanted(schema, name))
  }

  /** The work of `fresh`, by the epoch that was read together with a lock. */
  async #freshWith(o: { lock: StoreLock; seenBefore: number; epoch: number }): Promise<void> {
    try {
      if (this.#parts.presence.isHeld) await this.#reader.learnUpTo(o)
      else await this.fresh()
      this.#refuseMoved()
    } catch (error) {
      await o.lock[Symbol.asyncDispose]()
      throw error
    }
  }

  async countSidecars(): Promise<number> {
    const { server } = this.#parts
    return await this.#ask(() => server.restingStores.countSidecars(this.#reader))
  }

  /**
   * One transaction in the order of all writes, its memory as fresh as the database. One that may be
   * repeated begins before that is known, and leaves nothing where it is not.
   */
  async #inOrder<T>(change: Change<T>, mayRepeat = false): Promise<T> {
    let isGuess = mayRepeat
    return await this.#again(async () => {
      const { server } = this.#parts
      const turn = { epoch: this.#reader.seen + 1, writer: 0 }
      const isGuessed = isGuess
      isGuess = false
      let result: T | undefined
      try {
        await this.#db.transaction().execute(async (db) => {
          if (isGuessed) await takeTurnAfter(db, this.#reader.seen)
          else {
            Object.assign(turn, await takeTurn(db))
            await this.#reader.learnBefore(turn.epoch, db)
          }
          this.#refuseMoved()
          result = await change(db)
        })
      } catch (error) {
        if (isGuessed && !isOfDatabase(error)) throw new OvertakenError()
        if (isGuessed || !(error instanceof CommitLostError)) throw error
        if (!(await isCommitted(server, turn.writer, error))) throw error
      }
      // all before it was read, and this one is our own
      this.#reader.wrote(turn.epoch)
      return result as T
    })
  }

  #again<T>(run: () => Promise<T>): Promise<T> {
    return runAgain(this.#parts.server, run)
  }

  /** Reports a write to `onWritable` listeners, and refuses when the database fails. */
  async #keep<T>(run: () => Promise<T>): Promise<T> {
    const result = await this.#ask(run)
    this.writability.set(true)
    return result
  }

  #ask<T>(run: () => Promise<T>): Promise<T> {
    return this.#refusing(() => this.writability.during(run()))
  }

  /** Refuses when the database fails; reports a store that is unusable in a database that is in reach. */
  async #refusing<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.underWay.run(run)
    } catch (error) {
      const { server } = this.#parts
      const kind = kindOf(error)
      const isReached = kind === 'lost' ? server.reachability === 'reachable' : !isOfDatabase(error)
      if (isReached && kind !== 'mistake') this.writability.set(false)
      // a standby accepts no writes: connect anew to find the primary
      if (kind === 'read-only') server.lose()
      throw toRefusal(error)
    }
  }

  #report(): void {
    const { reachability } = this.#parts.server
    const now = reachability === 'reachable' && this.#reader.isBehind ? 'rolled-back' : reachability
    if (now === this.#reachability) return
    this.#reachability = now
    if (now === 'reachable') this.sightings.retry()
    this.#changes.emit(now)
  }

  copy(): Promise<string> {
    const { server, schema, dataDir } = this.#parts
    return this.#ask(async () => {
      await server.ensure()
      return await makeCopy(dataDir, (file) =>
        withRows(server, schema, (rows) => fillFile(file, rows)),
      )
    })
  }

  /**
   * Rewrites the tables that hold secrets, so that no former version of a row is left in their
   * files. The server's log and its backups keep their copies.
   */
  async scrub(): Promise<void> {
    const table = (name: string): string => `${quoted(this.#parts.schema)}.${name}`
    const tables = ['own_keys', 'secrets', 'protection'].map(table).join(', ')
    await this.#keep(() => sql.raw(`VACUUM (FULL) ${tables}`).execute(this.#db))
  }

  protected override readInOrder<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#order.run(() => this.read(query))
  }

  #refuseMoved(): void {
    if (!this.#isMovedAway) return
    throw new Refusal('postern_store_unwritable', 'the store was moved elsewhere')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    if (!(await this.close())) return
    this.#parts.server.restingStores.delete(this.#reader)
    await this.#locks[Symbol.asyncDispose]()
    await this.#parts.resources[Symbol.asyncDispose]()
  }
}
