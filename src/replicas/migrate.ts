import { sql, type Transaction } from 'kysely'
import { OperatorError } from '../errors.ts'
import { FIRST_VERSION } from '../store/migrations.ts'
import { newer, older } from '../store/refusals.ts'
import type { Schema } from '../store/schema.ts'
import { describeAddress } from './address.ts'
import { lockName, quoted, type Database, type PostgresSchema } from './schema.ts'
import type { PostgresServer } from './server.ts'
import { POSTGRES_STEPS, type PostgresStep } from './steps.ts'

/** The database of a store, whose queries name its schema. */
export function databaseOf(server: PostgresServer, schema: string): Database {
  return server.databaseFor(schema).withSchema(schema)
}

/**
 * Which version a store has; null when there is none.
 * @throws OperatorError `store-older`, `store-newer` when its schema is not for this program; an
 *   error of pg
 */
export async function findVersion(
  server: PostgresServer,
  schema: string,
  steps: readonly PostgresStep[] = POSTGRES_STEPS,
): Promise<number | null> {
  const table = `${quoted(schema)}.state`
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass(${table}) IS NOT NULL AS there`.execute(server.databaseFor(schema))
  if (rows[0]?.there !== true) return null
  return await readVersion(databaseOf(server, schema), steps)
}

async function readVersion(db: Database, steps: readonly PostgresStep[]): Promise<number> {
  const { version, oldest } = await db
    .selectFrom('state')
    .select(['version', 'oldest'])
    .executeTakeFirstOrThrow()
  const ours = newestOf(steps)
  if (version < FIRST_VERSION) throw older(version, FIRST_VERSION)
  if (oldest > ours) throw newer(oldest, ours)
  return version
}

/**
 * Brings a store to the newest schema, or makes an empty one; all steps or none, one process after
 * the other. One that is newer, and still for this program, stays as it is.
 * @throws OperatorError `store-older`, `store-newer`; `store-in-use` when a step needs the store alone and a
 *   sidecar has it open; an error of pg
 */
export async function migrate(
  server: PostgresServer,
  schema: string,
  steps: readonly PostgresStep[] = POSTGRES_STEPS,
): Promise<void> {
  const found = await findVersion(server, schema, steps)
  if (found !== null && found >= newestOf(steps)) return
  await server
    .databaseFor(schema)
    .transaction()
    .execute((transaction) => migrateIn(transaction, { server, schema, steps }))
}

/**
 * The same within a transaction, which ends with the schema as search_path.
 * @returns the version that was found; 0 when there was no store
 */
export async function migrateIn(
  transaction: Transaction<Schema>,
  o: { server: PostgresServer; schema: string; steps?: readonly PostgresStep[] },
): Promise<number> {
  const { server, schema, steps = POSTGRES_STEPS } = o
  await lock(transaction, lockName(schema, 'migrate'))
  await makeSchema(transaction, schema)
  await sql.raw(`SET LOCAL search_path TO ${quoted(schema)}, pg_temp`).execute(transaction)
  const version = await versionIn(transaction, schema, steps)
  for (const step of steps.filter((one) => one.version > version)) {
    await run(transaction, { step, isFirst: version === 0, server, schema })
  }
  return version
}

async function versionIn(
  transaction: Transaction<Schema>,
  schema: string,
  steps: readonly PostgresStep[],
): Promise<number> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass('state') IS NOT NULL AS there`.execute(transaction)
  if (rows[0]?.there !== true) return 0
  return await readVersion(transaction.withSchema(schema) as unknown as Database, steps)
}

async function run(
  transaction: Transaction<Schema>,
  o: { step: PostgresStep; isFirst: boolean; server: PostgresServer; schema: string },
): Promise<void> {
  const { version, isAdditive, statements } = o.step
  if (!isAdditive && !o.isFirst) await requireAlone(transaction, o)
  for (const statement of statements) await sql.raw(statement).execute(transaction)
  const db = transaction as unknown as Transaction<PostgresSchema>
  await db
    .updateTable('state')
    .set({ version, ...(isAdditive ? {} : { oldest: version }) })
    .execute()
}

async function makeSchema(transaction: Transaction<Schema>, schema: string): Promise<void> {
  const { rows } = await sql`
    SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(transaction)
  // the right to make one is asked for only where there is none
  if (rows.length === 0) await sql.raw(`CREATE SCHEMA ${quoted(schema)}`).execute(transaction)
}

async function lock(transaction: Transaction<Schema>, name: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction)
}

async function requireAlone(
  transaction: Transaction<Schema>,
  { server, schema }: { server: PostgresServer; schema: string },
): Promise<void> {
  const { rows } = await sql<{ alone: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${lockName(schema, 'presence')}, 0)) AS alone
  `.execute(transaction)
  if (rows[0]?.alone === true) return
  throw new OperatorError(
    'store-in-use',
    `the store in ${describeAddress(server.address)} must be upgraded, and another sidecar uses it`,
    'stop every sidecar of this bot, then start the new version',
  )
}

const newestOf = (steps: readonly PostgresStep[]): number => steps.at(-1)?.version ?? 0
