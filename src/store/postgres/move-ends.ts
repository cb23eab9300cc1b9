/** The places between which a store moves: a data directory, and a schema of PostgreSQL. */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { sql, type Kysely, type Transaction } from 'kysely'
import { acquire } from '../acquire.ts'
import { carry, fillFile, rowsIn } from '../carry.ts'
import type { ProtectionRequest } from '../choose.ts'
import { putInPlace, removeDatabase, unfinishedIn } from '../create.ts'
import { checkDataDir, makeDataDir } from '../data-dir.ts'
import { kyselyOf, connectExclusive } from '../sqlite.ts'
import { syncDirectory } from '../files.ts'
import { DATABASE, explain, whatIsThere } from '../inspect.ts'
import { readMark, setMark } from '../flags.ts'
import { release } from '../owner.ts'
import type { Schema } from '../schema.ts'
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

/**
 * Opens the store of a data directory that moves away. One of an older version is brought up to date
 * first.
 * @throws OperatorError as `openStore` does, but for `store-moved`
 */
export async function fileSource(dataDir: string, request: ProtectionRequest): Promise<MoveEnd> {
  const isThere = checkDataDir(dataDir) && whatIsThere(dataDir) !== 'none'
  if (!isThere) return fileEnd(dataDir, null)
  const { database } = await acquire({ ...request, dataDir, mode: 'existing', isMoving: true })
  return fileEnd(dataDir, database)
}

/** Makes the folder that a store moves into, if it is not there. @throws OperatorError `data-dir` */
export function fileTarget(dataDir: string): MoveEnd {
  makeDataDir(dataDir)
  return fileEnd(dataDir, whatIsThere(dataDir) === 'database' ? hold(dataDir) : null)
}

/**
 * A data directory; its store, if there is one, is ours alone until this is disposed of.
 * @param opened null where there is no store, or none that is whole
 */
function fileEnd(dataDir: string, opened: DatabaseSync | null): MoveEnd {
  let database = opened
  const db = (): Kysely<Schema> => kyselyOf(required())
  const required = (): DatabaseSync => {
    if (database === null) throw new Error('there is no store')
    return database
  }
  const close = (): void => {
    database?.close()
    database = null
  }
  return {
    place: dataDir,
    async find() {
      return { isStore: database !== null, mark: database && (await readMark(db())) }
    },
    withRows: async (read) => await read((table) => rowsIn(required(), table)),
    async receive(rows, mark) {
      {
        using unfinished = unfinishedIn(dataDir)
        await fillFile(unfinished.file, rows, mark)
        const isPlaced = putInPlace(unfinished.file, dataDir)
        if (!isPlaced) throw new Error('a store appeared meanwhile')
      }
      database = hold(dataDir)
    },
    setMark: (mark) =>
      db()
        .transaction()
        .execute((transaction) => setMark(transaction, mark)),
    async discard() {
      close()
      removeDatabase(join(dataDir, DATABASE))
      syncDirectory(dataDir)
    },
    async [Symbol.asyncDispose]() {
      close()
      release(dataDir)
    },
  }
}

function hold(dataDir: string): DatabaseSync {
  try {
    return connectExclusive(join(dataDir, DATABASE))
  } catch (error) {
    throw explain(error, dataDir)
  }
}

/**
 * Claims a schema, which nobody else uses until the end is disposed of. A store of an older version
 * in it is migrated.
 * @param server disposed of by the caller, after this
 * @throws OperatorError `store-in-use` when a sidecar has its store open; as opening it does
 */
export async function takeSchema(server: PostgresServer, schema: string): Promise<MoveEnd> {
  checkSchemaName(schema)
  const db = databaseOf(server, schema)
  const explained = <T>(run: () => Promise<T>): Promise<T> =>
    run().catch((error: unknown) => {
      throw toOperator(error, server.address)
    })
  const transact = <T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T> =>
    explained(() =>
      server
        .databaseFor(schema)
        .transaction()
        .execute(async (transaction) => {
          // the other store is read in between, and keys are opened
          await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(transaction)
          await sql`SET LOCAL statement_timeout = 0`.execute(transaction)
          return await change(transaction)
        }),
    )
  const alone = await explained(async () => {
    if ((await findVersion(db, schema)) !== null) await migrate(server, schema)
    return await takeAlone(server, schema)
  })
  return {
    place: describePlace(server.address, schema),
    find: () =>
      explained(async () => {
        const isStore = (await findVersion(db, schema)) !== null
        return { isStore, mark: isStore ? await readMark(db) : null }
      }),
    withRows: (read) => explained(() => withRows(server, schema, read)),
    receive: (rows, mark) =>
      transact(async (transaction) => {
        await migrateIn(transaction, { server, schema, isAlone: true })
        // nobody has anything of it in memory yet
        await setTriggers(transaction, 'DISABLE')
        await carry(rows, transaction)
        await setMark(transaction, mark)
        await setTriggers(transaction, 'ENABLE')
        await sql`
          SELECT setval(pg_get_serial_sequence('journal', 'id'), max(id)) FROM journal`.execute(
          transaction,
        )
      }),
    setMark: (mark) => transact((transaction) => setMark(transaction.withSchema(schema), mark)),
    /** The schema itself may be somebody else's to make. */
    discard: () =>
      transact(async (transaction) => {
        const names = ALL_TABLES.map((table) => `${quoted(schema)}.${table}`).join(', ')
        await sql.raw(`DROP TABLE ${names}`).execute(transaction)
        await sql.raw(`DROP FUNCTION ${quoted(schema)}.note_change`).execute(transaction)
      }),
    [Symbol.asyncDispose]: () => alone[Symbol.asyncDispose](),
  }
}

async function setTriggers(db: Transaction<Schema>, how: 'ENABLE' | 'DISABLE'): Promise<void> {
  for (const table of FOLLOWED_TABLES) {
    await sql.raw(`ALTER TABLE ${table} ${how} TRIGGER note_change`).execute(db)
  }
}
