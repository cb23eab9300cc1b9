import { sql, type Kysely, type Transaction } from 'kysely'
import { fillFile } from '../store/carry.ts'
import { Refusal } from '../errors.ts'
import { Listeners } from '../util/listeners.ts'
import { Mutex } from '../util/mutex.ts'
import { makeCopy } from '../store/backup.ts'
import { openExisting, prepare, type ProtectionRequest } from '../store/choose.ts'
import { relockAll, writeMoveIn, type MoveTarget } from '../store/relock.ts'
import { NamedSecrets } from '../store/named-secrets.ts'
import type { NewProtection, OpenProtection } from '../store/protection.ts'
import type { ProtectionMethod, Schema } from '../store/schema.ts'
import { readMark } from '../store/move-mark.ts'
import { scrubDue } from '../store/scrub.ts'
import {
  type FollowedTable,
  type LockName,
  type Moved,
  type Reachability,
  type Relock,
  type Reread,
  type Store,
  type StoreLock,
} from '../store/store.ts'
import { SightingWriter, type UnwrittenSightings } from '../store/sightings.ts'
import { UnderWay } from '../store/under-way.ts'
import { Writability } from '../store/writability.ts'
import { CommitLostError, kindOf, type FailureKind } from './failures.ts'
import { EpochReader } from './epoch-reader.ts'
import { NamedLocks } from './locks.ts'
import { databaseOf } from './migrate.ts'
import type { OpenLock } from './open-lock.ts'
import { withRows } from './rows.ts'
import { isCommitted, runAgain } from './runs.ts'
import { quoted, type Database, type PostgresSchema } from './schema.ts'
import type { LastSeenTimeline } from './last-seen-timeline.ts'
import type { PostgresServer } from './server.ts'

/** What ends by an operator's hand, while the database answers others. */
const UNUSABLE: readonly FailureKind[] = ['storage', 'rights', 'blocked', 'damaged', 'again']
const DETAILS: Partial<Record<FailureKind, string>> = {
  lost: 'the database is out of reach',
  'read-only': 'the database is out of reach',
  pooled: 'a pooler stands before the database',
  'rolled-back': 'the database is behind what this sidecar has seen of it',
}

export interface PostgresStoreParts {
  server: PostgresServer
  schema: string
  /** Null when the store has no protection and none was asked for. */
  held: OpenProtection | null
  /** What opens the protection again when another sidecar has moved the store. */
  request: ProtectionRequest
  /** Where copies are made. */
  dataDir: string
  /** Shows to others that the store is open. */
  openLock: OpenLock
  /** Disposed of with the store. */
  resources: AsyncDisposable
  /** Written whenever more was seen. */
  lastSeen: LastSeenTimeline
  /** Epoch when the store was opened: before anything was read. */
  epoch: number
}

type Change<T> = (db: Transaction<Schema>) => Promise<T>

/** A store in a schema of PostgreSQL; `Store` documents its methods. */
export class PostgresStore implements Store {
  readonly isShared = true
  readonly #parts: PostgresStoreParts
  readonly #db: Database
  readonly #reader: EpochReader
  readonly #locks: NamedLocks
  readonly #secrets: NamedSecrets
  readonly #underWay = new UnderWay()
  /** Writes, and what others wrote being read, one after the other. */
  readonly #order = new Mutex()
  /** Protections are changed one after the other. */
  readonly #moves = new Mutex()
  readonly #writability = new Writability()
  readonly #sightings = new SightingWriter((change, onWritten) => this.#ordered(change, onWritten))
  readonly #changes = new Listeners<Reachability>()
  readonly #stopListening: () => void
  #held: OpenProtection | null
  #reachability: Reachability = 'reachable'
  #isMovedAway = false

  constructor(parts: PostgresStoreParts) {
    const { server, schema } = parts
    this.#parts = parts
    this.#held = parts.held
    this.#db = databaseOf(server, schema)
    this.#reader = new EpochReader({ ...parts, db: this.#db, order: this.#order })
    this.#locks = new NamedLocks(server, schema)
    this.#secrets = new NamedSecrets(
      {
        // not while all of them move under another protection
        read: (query) => this.#order.run(() => this.read(query)),
        write: (change) => this.write(change),
      },
      () => this.#held,
    )
    this.#reader.follow('protection', (db) => this.#reopenProtection(db))
    this.#reader.follow('flags', async (db) => {
      this.#isMovedAway = (await readMark(db)) !== null
    })
    this.#reader.onBehind(() => this.#report())
    this.#stopListening = server.onReachability(() => this.#report())
  }

  get method(): ProtectionMethod | null {
    return this.#held?.method ?? null
  }

  get masterSecret(): string | null {
    return this.#held?.masterSecret ?? null
  }

  async read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return await this.#ask(() => this.#again(() => query(this.#db)))
  }

  async write<T>(change: Change<T>, onWritten?: (result: T) => void): Promise<T> {
    if (this.#sightings.isDue) await this.#sightings.settle()
    return await this.#ordered(change, onWritten)
  }

  async #ordered<T>(change: Change<T>, onWritten?: (result: T) => void): Promise<T> {
    return await this.#keep(() =>
      this.#order.run(async () => {
        const result = await this.#inOrder(change)
        onWritten?.(result)
        return result
      }),
    )
  }

  writeFirst(sightings: UnwrittenSightings): void {
    this.#sightings.add(sightings)
  }

  settle(): Promise<void> {
    return this.#sightings.settle()
  }

  async note<T>(
    change: Change<T>,
    { isOrdered = false, isSingle = false }: { isOrdered?: boolean; isSingle?: boolean } = {},
  ): Promise<T> {
    if (this.#sightings.isDue) await this.#sightings.settle()
    if (isOrdered) return await this.#ordered(change)
    const run = asCallers(change)
    const once = (): Promise<T> =>
      isSingle ? run(this.#db as Transaction<PostgresSchema>) : this.#db.transaction().execute(run)
    return await this.#keep(() => this.#again(once))
  }

  async fresh(): Promise<void> {
    try {
      await this.#underWay.run(() => this.#again(() => this.#reader.learn()))
    } catch (error) {
      throw this.#refusalOf(this.#noted(error))
    }
    this.#refuseMoved()
  }

  follow(table: FollowedTable, reread: Reread): void {
    this.#reader.follow(table, reread)
  }

  onReachability(listener: (now: Reachability) => void): void {
    this.#changes.add(listener)
  }

  keepWatch(): Disposable {
    const { session } = this.#parts.server
    void session.beginBeat().catch(() => undefined)
    return { [Symbol.dispose]: () => void session.endBeat().catch(() => undefined) }
  }

  async tryLock(
    name: LockName,
    { isShared = false, isFresh = false }: { isShared?: boolean; isFresh?: boolean } = {},
  ): Promise<StoreLock | null> {
    return await this.#ask(async () => {
      const seenBefore = this.#reader.seen
      const taken = await this.#locks.take(name, { isShared, withEpoch: isFresh })
      if (taken !== null && isFresh) await this.#freshWith({ ...taken, seenBefore })
      return taken?.lock ?? null
    })
  }

  /** What `fresh` does, by the epoch that was asked for together with a lock. */
  async #freshWith(o: { lock: StoreLock; seenBefore: number; epoch: number }): Promise<void> {
    try {
      if (this.#parts.openLock.isHeld) await this.#reader.learnUpTo(o)
      else await this.fresh()
      this.#refuseMoved()
    } catch (error) {
      await o.lock[Symbol.asyncDispose]()
      throw error
    }
  }

  async countSidecars(): Promise<number> {
    return await this.#ask(() => this.#parts.openLock.count())
  }

  onWritable(listener: (writable: boolean) => void): void {
    this.#writability.onChange(listener)
  }

  /** One transaction in the order of all writes, its memory as fresh as the database. */
  async #inOrder<T>(change: Change<T>): Promise<T> {
    return await this.#again(async () => {
      const { server } = this.#parts
      const turn = { epoch: 0, writer: 0 }
      let result: T | undefined
      try {
        await this.#db.transaction().execute(async (db) => {
          Object.assign(turn, await takeTurn(db))
          await this.#reader.learnBefore(turn.epoch, db)
          this.#refuseMoved()
          result = await asCallers(change)(db)
        })
      } catch (error) {
        if (!(error instanceof CommitLostError)) throw error
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

  /** Refuses when the database fails. */
  #ask<T>(run: () => Promise<T>): Promise<T> {
    return this.#underWay.run(async () => {
      try {
        return await this.#writability.during(run())
      } catch (error) {
        throw this.#refusalOf(this.#noted(error))
      }
    })
  }

  /** Reports to `onWritable` listeners, and refuses when the database fails. */
  async #keep<T>(run: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#underWay.run(() => this.#writability.during(run()))
      this.#writability.set(true)
      return result
    } catch (error) {
      throw this.#refusalOf(this.#noted(error))
    }
  }

  /** Reports that the store cannot be used where the database is in reach. */
  #noted(error: unknown): unknown {
    const kind = kindOf(error)
    const isInReach = this.#parts.server.reachability === 'reachable'
    if (UNUSABLE.includes(kind) || (kind === 'lost' && isInReach)) this.#writability.set(false)
    return error
  }

  #refusalOf(error: unknown): unknown {
    const kind = kindOf(error)
    if (kind === 'mistake') return error
    // a standby answers, and takes no writes: whatever is connected must be looked for anew
    if (kind === 'read-only') this.#parts.server.lose()
    return new Refusal('postern_store_unwritable', DETAILS[kind] ?? '', { cause: error })
  }

  #report(): void {
    const { reachability } = this.#parts.server
    const now = reachability === 'reachable' && this.#reader.isBehind ? 'rolled-back' : reachability
    if (now === this.#reachability) return
    this.#reachability = now
    if (now === 'reachable') this.#sightings.retry()
    this.#changes.emit(now)
  }

  seal(name: string, secret: Uint8Array): Buffer {
    return this.#secrets.seal(name, secret)
  }

  unseal(name: string, sealed: Uint8Array): Buffer {
    return this.#secrets.unseal(name, sealed)
  }

  secret(name: string): Promise<Buffer> {
    return this.#secrets.secret(name)
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
   * files. The server's log and its backups keep what they have.
   */
  async scrub(): Promise<void> {
    const table = (name: string): string => `${quoted(this.#parts.schema)}.${name}`
    const tables = ['own_keys', 'secrets', 'protection'].map(table).join(', ')
    await this.#keep(() => sql.raw(`VACUUM (FULL) ${tables}`).execute(this.#db))
  }

  move(wanted: NewProtection, relock: Relock): Promise<Moved> {
    return this.#moves.run(() => this.#move(wanted, relock))
  }

  async #move(wanted: NewProtection, relock: Relock): Promise<Moved> {
    const from = this.#held
    const prepared = await prepare(wanted)
    await this.#lockAnew(prepared, { from, relock, failed: () => prepared.discard() })
    return { isScrubbed: await scrubDue(this), oldEntry: from?.entry ?? null }
  }

  async #lockAnew(
    to: MoveTarget,
    o: { from: OpenProtection | null; relock: Relock; failed: () => Promise<void> },
  ): Promise<void> {
    const { from, relock } = o
    try {
      for (let isDone = false; !isDone;) {
        const relocked = await this.read((db) => relockAll(db, { from, to: to.held, relock }))
        isDone = await this.#keep(() =>
          this.#order.run(async () => {
            const isWritten = await this.#inOrder((db) => writeMoveIn(db, { from, to, relocked }))
            if (isWritten) this.#held = to.held
            return isWritten
          }),
        )
      }
    } catch (error) {
      if (this.#held !== to.held) await o.failed()
      throw error
    }
  }

  #refuseMoved(): void {
    if (!this.#isMovedAway) return
    throw new Refusal('postern_store_unwritable', 'the store was moved elsewhere')
  }

  /** Another sidecar moved everything to another protection: what this one was started with may open it still. */
  async #reopenProtection(db: Kysely<Schema>): Promise<void> {
    const row = await db.selectFrom('protection').selectAll().executeTakeFirst()
    this.#held =
      row === undefined ? null : await openExisting(row, this.#parts.request).catch(() => null)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    if (this.#sightings.isDue) await this.#sightings.finish()
    if (!(await this.#underWay.close())) return
    await this.#locks[Symbol.asyncDispose]()
    await this.#parts.resources[Symbol.asyncDispose]()
  }
}

/**
 * Waits for every write before it, and raises the epoch.
 * @returns the new epoch, and the number of the transaction
 */
async function takeTurn(
  db: Transaction<PostgresSchema>,
): Promise<{ epoch: number; writer: number }> {
  return await db
    .updateTable('state')
    .set((state) => ({
      epoch: state('epoch', '+', 1),
      writer: sql<number>`txid_current()`,
    }))
    .returning(['epoch', 'writer'])
    .executeTakeFirstOrThrow()
}

/** A change as callers write it, who know nothing of what only PostgreSQL has. */
function asCallers<T>(change: Change<T>): (db: Transaction<PostgresSchema>) => Promise<T> {
  return async (db) => await change(db)
}
