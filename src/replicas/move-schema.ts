/** A schema of PostgreSQL as one end of a move. */
import { sql, type Transaction } from 'kysely'
import { readMark, setMark, type MoveMark } from '../store/move-mark.ts'
import type { MoveEnd } from './move-store.ts'
import type { Schema } from '../store/schema.ts'
import { FOLLOWED_TABLES } from '../store/store.ts'
import { carry, type RowSource } from '../store/carry.ts'
import { describePlace } from './address.ts'
import { toOperator } from './failures.ts'
import { databaseOf, findVersion, migrate, migrateIn } from './migrate.ts'
import { OpenLock } from './open-lock.ts'
import { withRows } from './rows.ts'
import { checkSchemaName, quoted } from './schema.ts'
import type { PostgresServer } from './server.ts'
import { ALL_TABLES } from './steps.ts'

/** A schema, which nobody else uses until this is disposed of. */
export class SchemaMoveEnd implements MoveEnd {
  readonly #server: PostgresServer
  readonly #schema: string
  readonly #openLock: OpenLock

  private constructor(server: PostgresServer, schema: string) {
    this.#server = server
    this.#schema = schema
    this.#openLock = new OpenLock(server, schema, 'alone')
  }

  /**
   * Takes a schema for itself. A store of an older version in it is brought up to date.
   * @param server whoever hands it in disposes of it, after this
   * @throws OperatorError `store-in-use` when a sidecar has its store open; as opening it does
   */
  static async take(server: PostgresServer, schema: string): Promise<SchemaMoveEnd> {
    checkSchemaName(schema)
    const end = new SchemaMoveEnd(server, schema)
    await end.#explained(async () => {
      if ((await findVersion(server, schema)) !== null) await migrate(server, schema)
      await end.#openLock.ensure()
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
      await migrateIn(db, { server: this.#server, schema: this.#schema })
      // nobody has anything of it in memory yet
      for (const table of FOLLOWED_TABLES) await setTriggers(db, table, 'DISABLE')
      await carry(rows, db)
      await setMark(db, mark)
      for (const table of FOLLOWED_TABLES) await setTriggers(db, table, 'ENABLE')
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
    await this.#openLock[Symbol.asyncDispose]()
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

async function setTriggers(
  db: Transaction<Schema>,
  table: string,
  how: 'ENABLE' | 'DISABLE',
): Promise<void> {
  await sql.raw(`ALTER TABLE ${table} ${how} TRIGGER note_change`).execute(db)
}
