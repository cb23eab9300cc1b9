import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { Refusal } from '../errors.ts'
import { Mutex } from '../util/scheduling.ts'
import { acquire, type Opening } from './acquire.ts'
import { copyDatabase, makeCopy } from './backup.ts'
import { kyselyOf, isBusy, isDiskFailure, isStorageFailure, preparedStatements } from './sqlite.ts'
import { errnoOf } from './files.ts'
import { DATABASE } from './inspect.ts'
import { LogSync } from './log-sync.ts'
import { release } from './owner.ts'
import { ProtectedStore } from './protected-store.ts'
import type { OpenProtection, NewProtection } from './protection.ts'
import type { DatabaseOpening } from './postgres/open.ts'
import { corrupt, unsettledMove } from './refusals.ts'
import type { Schema } from './schema.ts'
import { scrubLog } from './scrub.ts'
import type { Change, Moved, Relock, Store, StoreLock } from './store.ts'

/** Where the store is: in a schema of PostgreSQL when `database` is given, else in `dataDir`. */
export interface StoreOpening extends Opening {
  /** `server` is disposed of by the caller, after the store. */
  database?: Pick<DatabaseOpening, 'server' | 'schema'>
}

/**
 * Opens the store. One in `dataDir` keeps every other process out until it is disposed of; one on
 * PostgreSQL is shared. Nothing is written, wiped or replaced when it refuses.
 * @param o `dataDir` the directory; `mode` whether it may be created (`acquire.ts`); the rest
 *   chooses the protection of its secrets (`choose.ts`)
 * @throws OperatorError `data-dir`, `settings`, `protection`, `keychain`, `store-missing`,
 *   `store-in-use`, `store-locked`, `store-passphrase`, `store-derivation`, `store-corrupt`,
 *   `store-older`, `store-newer`, `store-unwritable`, `store-moved`, `store-other-bot`, each with a
 *   hint; for a database also those of `openDatabaseStore`
 */
export async function openStore({ database, ...o }: StoreOpening): Promise<Store> {
  if (database !== undefined) {
    const { openDatabaseStore } = await import('./postgres/open.ts')
    return await openDatabaseStore({ ...o, ...database })
  }
  return new OpenStore({ dataDir: o.dataDir, ...(await acquire(o)) })
}

const FRESH = Promise.resolve()

const NEVER = new AbortController().signal
/** The lock of a process that is alone. */
const LONE_LOCK: StoreLock = {
  isHeld: true,
  signal: NEVER,
  asked: NEVER,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

/** A store that is open; `Store` documents its methods. */
class OpenStore extends ProtectedStore implements Store {
  readonly isShared = false
  readonly #dataDir: string
  readonly #database: DatabaseSync
  readonly #db: Kysely<Schema>
  readonly #statements = preparedStatements()
  readonly #log: LogSync
  /** Copies and scrubbing: of those that need the database file for themselves, one at a time. */
  readonly #fileUses = new Mutex()
  /** The database file. To close it would end SQLite's lock (POSIX), so it stays open. */
  #file: FileHandle | null = null

  constructor(o: { dataDir: string; database: DatabaseSync; held: OpenProtection | null }) {
    super(o.held)
    this.#dataDir = o.dataDir
    this.#database = o.database
    this.#log = new LogSync(o.database, join(o.dataDir, `${DATABASE}-wal`))
    this.#db = kyselyOf(o.database, this.#statements)
  }

  async read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    try {
      return await this.underWay.run(() => query(this.#db))
    } catch (error) {
      if (isBusy(error) || isDiskFailure(error)) throw this.#refusal(error)
      if (!isStorageFailure(error)) throw error
      this.writability.set(false)
      throw corrupt('it can no longer be read', error)
    }
  }

  protected put<T>(change: Change<T>, onWritten?: (result: T) => void): Promise<T> {
    return this.#keep(async () => {
      return await this.#alone(async (db) => {
        const result = await db.transaction().execute(change)
        onWritten?.(result)
        return result
      })
    })
  }

  async note<T>(change: Change<T>): Promise<T> {
    if (this.sightings.isDue) await this.sightings.settle()
    return await this.#keep(async () => {
      const noted = await this.#alone((db) =>
        this.#log.unsynced(() => db.transaction().execute(change)),
      )
      await this.#log.sync()
      return noted
    })
  }

  /** Reports to `onWritable` listeners, and refuses when the disk fails. */
  async #keep<T>(run: () => Promise<T>): Promise<T> {
    try {
      const result = await this.underWay.run(run)
      this.writability.set(true)
      return result
    } catch (error) {
      if (errnoOf(error) === null && !isStorageFailure(error)) throw error
      throw this.#refusal(error)
    }
  }

  #refusal(cause: unknown): Refusal {
    this.writability.set(false)
    return new Refusal('postern_store_unwritable', '', { cause })
  }

  /** Writes while nothing else reads or writes, also before and after the transaction. */
  #alone<T>(write: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#db.connection().execute(async (db) => {
      await this.#log.mend()
      return await write(db)
    })
  }

  // one process alone has the store: its memory is never behind, and every lock is free
  readonly epoch = null
  readonly fresh = (): Promise<void> => FRESH
  readonly follow = (): void => {}
  readonly onReachability = (): void => {}
  readonly tryLock = (): Promise<StoreLock> => Promise.resolve(LONE_LOCK)
  readonly untilFree = (): Promise<void> => FRESH
  readonly isWanted = (): Promise<boolean> => Promise.resolve(false)
  readonly countSidecars = (): Promise<number> => Promise.resolve(1)

  /** Frees the pages that SQLite has read, and its statements: at rest they are most of a store’s memory. */
  async keepUp(): Promise<void> {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.exec('PRAGMA shrink_memory')
  }

  copy(): Promise<string> {
    const fill = async (to: string): Promise<void> => {
      const file = (this.#file ??= await open(join(this.#dataDir, DATABASE), 'r'))
      const start = async () => this.#log.startCopy(() => copyDatabase(file, to))
      const { copied } = await this.#db.connection().execute(start)
      await copied
    }
    const copy = () => makeCopy(this.#dataDir, fill)
    return this.underWay.run(() => this.#fileUses.run(copy))
  }

  async scrub(): Promise<void> {
    const file = join(this.#dataDir, DATABASE)
    // the one connection is ours meanwhile, so that no transaction is under way
    const scrub = async () => scrubLog(this.#database, file)
    await this.#keep(() => this.#fileUses.run(() => this.#db.connection().execute(scrub)))
  }

  override move(wanted: NewProtection, relock: Relock): Promise<Moved> {
    return this.underWay.run(() => super.move(wanted, relock))
  }

  protected override moveError(error: unknown): unknown {
    const isOfDisk = error instanceof Refusal && isStorageFailure(error.cause)
    return isOfDisk ? unsettledMove(this.#dataDir, error.cause) : error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!(await this.close())) return
    await this.#log[Symbol.asyncDispose]()
    release(this.#dataDir)
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      // pages that do not fit into the database file stay safe in the WAL
      if (!isStorageFailure(error)) throw error
    }
    await this.#db.destroy()
    if (this.#database.isOpen) this.#database.close()
    await this.#file?.close()
  }
}
