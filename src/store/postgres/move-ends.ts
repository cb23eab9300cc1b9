/** The places between which a store moves: a data directory, and a schema of PostgreSQL. */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { sql, type Transaction } from 'kysely'
import { acquire } from '../acquire.ts'
import { carry, fillFile, rowsIn, type RowSource } from '../carry.ts'
import type { ProtectionRequest } from '../choose.ts'
import { putInPlace, removeDatabase, unfinishedIn } from '../create.ts'
import { checkDataDir, makeDataDir } from '../data-dir.ts'
import { kyselyOf } from '../dialect.ts'
import { syncDirectory } from '../files.ts'
import { DATABASE, explain, whatIsThere } from '../inspect.ts'
import { readMark, setMark, type MoveMark } from '../move-mark.ts'
import { release } from '../owner.ts'
import type { Schema } from '../schema.ts'
import { connectExclusive } from '../sqlite.ts'
import { FOLLOWED_TABLES } from '../store.ts'
import { describePlace } from './address.ts'
import { toOperator } from './failures.ts'
import { databaseOf, findVersion, migrate, migrateIn } from './migrate.ts'
import type { MoveEnd } from './move-store.ts'
import { takeAlone } from './open-lock.ts'
import { withRows } from './rows.ts'
import { checkSchemaName, quoted } from './schema.ts'
import type { PostgresServer } from './server.ts'
import { ALL_TABLES } from './steps.ts'

/** A data directory; its store, if there is one, is ours alone until this is disposed of. */
export class FileMoveEnd implements MoveEnd {
  readonly place: string
  /** The opened database; null where there is no store, or none that is whole. */
  #database: DatabaseSync | null

  private constructor(dataDir: string, database: DatabaseSync | null) {
    this.place = dataDir
    this.#database = database
  }

  /**
   * Opens the store that moves away. One of an older version is brought up to date first.
   * @throws OperatorError as `openStore` does, but for `store-moved`
   */
  static async source(dataDir: string, request: ProtectionRequest): Promise<FileMoveEnd> {
    const isThere = checkDataDir(dataDir) && whatIsThere(dataDir) !== 'none'
    if (!isThere) return new FileMoveEnd(dataDir, null)
    const { database } = await acquire({ ...request, dataDir, mode: 'existing', isMoving: true })
    return new FileMoveEnd(dataDir, database)
  }

  /** Makes the folder that a store moves into, if it is not there. @throws OperatorError `data-dir` */
  static target(dataDir: string): FileMoveEnd {
    makeDataDir(dataDir)
    return new FileMoveEnd(dataDir, whatIsThere(dataDir) === 'database' ? hold(dataDir) : null)
  }

  async find(): Promise<{ isStore: boolean; mark: MoveMark | null }> {
    const isStore = this.#database !== null
    return { isStore, mark: isStore ? await readMark(kyselyOf(this.#open)) : null }
  }

  async withRows<T>(read: (rows: RowSource) => Promise<T>): Promise<T> {
    return await read((table) => rowsIn(this.#open, table))
  }

  async receive(rows: RowSource, mark: MoveMark): Promise<void> {
    {
      using unfinished = unfinishedIn(this.place)
      await fillFile(unfinished.file, rows, mark)
      const isPlaced = putInPlace(unfinished.file, this.place)
      if (!isPlaced) throw new Error('a store appeared meanwhile')
    }
    this.#database = hold(this.place)
  }

  async setMark(mark: MoveMark | null): Promise<void> {
    const transaction = kyselyOf(this.#open).transaction()
    await transaction.execute((db) => setMark(db, mark))
  }

  discard(): Promise<void> {
    this.#close()
    removeDatabase(join(this.place, DATABASE))
    syncDirectory(this.place)
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    release(this.place)
    return Promise.resolve()
  }

  #close(): void {
    this.#database?.close()
    this.#database = null
  }

  get #open(): DatabaseSync {
    if (this.#database === null) throw new Error('there is no store')
    return this.#database
  }
}

function hold(dataDir: string): DatabaseSync {
  try {
    return connectExclusive(join(dataDir, DATABASE))
  } catch (error) {
    throw explain(error, dataDir)
  }
}

/** A schema, which nobody else uses until this is disposed of. */
export class SchemaMoveEnd implements MoveEnd {
  readonly #server: PostgresServer
  readonly #schema: string
  #alone: AsyncDisposable | null = null

  private constructor(server: PostgresServer, schema: string) {
    this.#server = server
    this.#schema = schema
  }

  /**
   * Claims a schema. A store of an older version in it is migrated.
   * @param server disposed of by the caller, after this
   * @throws OperatorError `store-in-use` when a sidecar has its store open; as opening it does
   */
  static async take(server: PostgresServer, schema: string): Promise<SchemaMoveEnd> {
    checkSchemaName(schema)
    const end = new SchemaMoveEnd(server, schema)
    await end.#explained(async () => {
      if ((await findVersion(server, schema)) !== null) await migrate(server, schema)
      end.#alone = await takeAlone(server, schema)
    })
    return end
  }

  get place(): string {
    return describePlace(this.#server.address, this.#schema)
  }

  async find(): Promise<{ isStore: boolean; mark: MoveMark | null }> {
    return await this.#explained(async () => {
      const isStore = (await findVersion(this.#server, this.#schema)) !== null
      const mark = isStore ? await readMark(databaseOf(this.#server, this.#schema)) : null
      return { isStore, mark }
    })
  }

  async withRows<T>(read: (rows: RowSource) => Promise<T>): Promise<T> {
    return await this.#explained(() => withRows(this.#server, this.#schema, read))
  }

  async receive(rows: RowSource, mark: MoveMark): Promise<void> {
    await this.#transact(async (db) => {
      await migrateIn(db, { server: this.#server, schema: this.#schema, isAlone: true })
      // nobody has anything of it in memory yet
      await setTriggers(db, 'DISABLE')
      await carry(rows, db)
      await setMark(db, mark)
      await setTriggers(db, 'ENABLE')
      await sql`
        SELECT setval(pg_get_serial_sequence('journal', 'id'), max(id)) FROM journal`.execute(db)
    })
  }

  async setMark(mark: MoveMark | null): Promise<void> {
    const schema = this.#schema
    await this.#transact((db) => setMark(db.withSchema(schema), mark))
  }

  /** The schema itself may be somebody else's to make. */
  async discard(): Promise<void> {
    const names = ALL_TABLES.map((table) => `${quoted(this.#schema)}.${table}`).join(', ')
    await this.#transact(async (db) => {
      await sql.raw(`DROP TABLE ${names}`).execute(db)
      await sql.raw(`DROP FUNCTION ${quoted(this.#schema)}.note_change`).execute(db)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#alone?.[Symbol.asyncDispose]()
  }

  async #transact<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T> {
    return await this.#explained(() =>
      this.#server
        .databaseFor(this.#schema)
        .transaction()
        .execute(async (db) => {
          // the other store is read in between, and keys are opened
          await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(db)
          await sql`SET LOCAL statement_timeout = 0`.execute(db)
          return await change(db)
        }),
    )
  }

  async #explained<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      throw toOperator(error, this.#server.address)
    }
  }
}

async function setTriggers(db: Transaction<Schema>, how: 'ENABLE' | 'DISABLE'): Promise<void> {
  for (const table of FOLLOWED_TABLES) {
    await sql.raw(`ALTER TABLE ${table} ${how} TRIGGER note_change`).execute(db)
  }
}
