import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, type Transaction } from 'kysely'
import { Refusal } from '../errors.ts'
import { NodeSqliteDialect } from './dialect.ts'
import { errnoOf } from './files.ts'
import { DATABASE } from './inspect.ts'
import { release } from './owner.ts'
import { acquire } from './acquire.ts'
import type { Protection } from './protection.ts'
import { corrupt } from './refusals.ts'
import type { Schema } from './schema.ts'
import { scrubLog } from './scrub.ts'
import { isStorageFailure } from './sqlite.ts'

const SECRET_BYTES = 32

/** What survives a restart. One process at a time has it open. */
export interface Store extends AsyncDisposable {
  /**
   * Runs queries. Do not call it inside a `write`: it would wait for that write for ever.
   * @throws OperatorError `store-corrupt` when the database can no longer be read
   */
  read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * Runs one transaction; it is on disk (fsync) when this resolves, and has left nothing when it
   * rejects. Writes run one after the other.
   * @throws Refusal `postern_store_unwritable` when the disk fails; else what `change` throws
   */
  write<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Calls back with false when a write has failed on the disk, with true when one works again. */
  onWritable(listener: (writable: boolean) => void): void
  /** What the OpenPGP secret keys are locked under; null when the store has no protection. */
  readonly masterSecret: string | null
  /**
   * A random secret of 32 bytes by its name, the same for the life of the store. It is made on
   * first use and rests under the protection.
   * @throws Refusal `postern_locked` when the store has no protection, `postern_store_unwritable`;
   *   OperatorError `store-corrupt` when it was changed
   */
  secret(name: string): Promise<Buffer>
  /**
   * Seals bytes for the table `secrets`, to be written in the caller's own transaction.
   * @throws Refusal `postern_locked` when the store has no protection
   */
  seal(name: string, secret: Uint8Array): Buffer
  /** Opens what `seal` made under the same name. @throws as `secret` does */
  unseal(name: string, sealed: Uint8Array): Buffer
  /**
   * Overwrites on disk what was deleted, as far as that is possible: in the database SQLite does it
   * (secure_delete), in its log this does. What the file system or the disk copied elsewhere stays.
   * @throws Refusal `postern_store_unwritable`
   */
  scrub(): Promise<void>
}

/**
 * Opens the store, and keeps every other process out until it is disposed of.
 * Nothing is written, wiped or replaced when it refuses.
 * @param o `dataDir` the directory; `masterSecret` the passphrase, or null for a store without
 *   protection; `mode` `create` makes the store when there never was one, `existing` does not
 * @throws OperatorError `data-dir`, `store-missing`, `store-in-use`, `store-locked`,
 *   `store-corrupt`, `store-newer`, `store-unwritable`, each with what to do
 */
export async function openStore(o: {
  dataDir: string
  masterSecret: string | null
  mode: 'create' | 'existing'
}): Promise<Store> {
  const { database, protection } = await acquire(o)
  return new OpenStore({ ...o, database, protection })
}

class OpenStore implements Store {
  readonly masterSecret: string | null
  readonly #dataDir: string
  readonly #database: DatabaseSync
  readonly #db: Kysely<Schema>
  readonly #protection: Protection | null
  readonly #running = new Set<Promise<unknown>>()
  readonly #listeners: ((writable: boolean) => void)[] = []
  #writable = true
  #closed = false

  constructor(o: {
    dataDir: string
    masterSecret: string | null
    database: DatabaseSync
    protection: Protection | null
  }) {
    this.masterSecret = o.masterSecret
    this.#dataDir = o.dataDir
    this.#database = o.database
    this.#protection = o.protection
    this.#db = new Kysely<Schema>({ dialect: new NodeSqliteDialect(o.database) })
  }

  async read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    try {
      return await this.#track(() => query(this.#db))
    } catch (error) {
      throw isStorageFailure(error) ? corrupt('it can no longer be read', error) : error
    }
  }

  async write<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T> {
    try {
      const result = await this.#track(() => this.#db.transaction().execute(change))
      this.#tell(true)
      return result
    } catch (error) {
      if (!isStorageFailure(error)) throw error
      this.#tell(false)
      throw new Refusal('postern_store_unwritable', '', { cause: error })
    }
  }

  onWritable(listener: (writable: boolean) => void): void {
    this.#listeners.push(listener)
  }

  seal(name: string, secret: Uint8Array): Buffer {
    return this.#protected.seal(name, secret)
  }

  unseal(name: string, sealed: Uint8Array): Buffer {
    const secret = this.#protected.open(name, sealed)
    if (secret === null) throw corrupt('a sealed secret was changed')
    return secret
  }

  async secret(name: string): Promise<Buffer> {
    const protection = this.#protected
    const find = (db: Kysely<Schema>) =>
      db.selectFrom('secrets').select('sealed').where('name', '=', name).executeTakeFirst()
    const row =
      (await this.read(find)) ??
      (await this.write(async (db) => {
        const sealed = protection.seal(name, randomBytes(SECRET_BYTES))
        await db
          .insertInto('secrets')
          .values({ name, sealed })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        return find(db)
      }))
    if (row === undefined) throw corrupt('a sealed secret is gone')
    return this.unseal(name, row.sealed)
  }

  get #protected(): Protection {
    if (this.#protection !== null) return this.#protection
    throw new Refusal('postern_locked', 'the store has no passphrase')
  }

  async scrub(): Promise<void> {
    const file = join(this.#dataDir, DATABASE)
    // the one connection is ours meanwhile, so that no transaction is under way
    const scrub = () =>
      this.#db.connection().execute(() => Promise.resolve(scrubLog(this.#database, file)))
    try {
      await this.#track(scrub)
    } catch (error) {
      if (errnoOf(error) === null && !isStorageFailure(error)) throw error
      throw new Refusal('postern_store_unwritable', '', { cause: error })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.allSettled(this.#running)
    release(this.#dataDir)
    checkpoint(this.#database)
    await this.#db.destroy()
    if (this.#database.isOpen) this.#database.close()
  }

  /** What runs is waited for when the store closes; nothing new begins after that. */
  async #track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Refusal('postern_store_unwritable', 'the store is closed')
    const promise = run()
    this.#running.add(promise)
    try {
      return await promise
    } finally {
      this.#running.delete(promise)
    }
  }

  #tell(writable: boolean): void {
    if (writable === this.#writable) return
    this.#writable = writable
    for (const listener of this.#listeners) listener(writable)
  }
}

/** What a full disk keeps out of the database file stays safe in the WAL. */
function checkpoint(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isStorageFailure(error)) throw error
  }
}
