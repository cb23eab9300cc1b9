import { sql, type Kysely, type Transaction } from 'kysely'
import { FIRST_VERSION } from '../migrations.ts'
import { newer, older } from '../refusals.ts'
import type { Schema } from '../schema.ts'
import { isOpenIn, schemaInUse } from './open-lock.ts'
import { lockName, quoted, type Database } from './schema.ts'
import type { PostgresServer } from './server.ts'
import { POSTGRES_STEPS, type PostgresStep } from './steps.ts'

/** The database of a store, whose queries name its schema. */
export const databaseOf = (server: PostgresServer, schema: string): Database =>
  inSchema(server.databaseFor(schema), schema)

const inSchema = (db: Kysely<Schema>, schema: string): Database => db.withSchema(schema)

/**
 * Which version a store has; null when there is none.
 * @throws OperatorError `store-older`, `store-newer` when its schema is not for this program; an
 *   error of pg
 */
export async function findVersion(
  db: Kysely<Schema>,
  schema: string,
  steps: readonly PostgresStep[] = POSTGRES_STEPS,
): Promise<number | null> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass(${`${quoted(schema)}.state`}) IS NOT NULL AS there`.execute(db)
  if (rows[0]?.there !== true) return null
  const { version, oldest } = await inSchema(db, schema)
    .selectFrom('state')
    .select(['version', 'oldest'])
    .executeTakeFirstOrThrow()
  if (version < FIRST_VERSION) throw older(version, FIRST_VERSION)
  if (oldest > newestOf(steps)) throw newer(oldest, newestOf(steps))
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
  const db = server.databaseFor(schema)
  const found = await findVersion(db, schema, steps)
  if (isNewest(found, steps)) return
  await db.transaction().execute((one) => migrateIn(one, { server, schema }, steps))
}

/**
 * The same within a transaction, which ends with the schema as search_path.
 * @param o `isAlone`: the caller holds the schema alone, as a store that is moved does
 */
export async function migrateIn(
  transaction: Transaction<Schema>,
  {
    server,
    schema,
    isAlone = false,
  }: { server: PostgresServer; schema: string; isAlone?: boolean },
  steps = POSTGRES_STEPS,
): Promise<void> {
  const lock = lockName(schema, 'migrate')
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(transaction)
  // the right to make one is asked for only where there is none
  const there = await sql`
    SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(transaction)
  const name = quoted(schema)
  const make = there.rows.length === 0 ? `CREATE SCHEMA ${name};` : ''
  await sql.raw(`${make} SET LOCAL search_path TO ${name}, pg_temp`).execute(transaction)
  const found = await findVersion(transaction, schema, steps)
  const missing = steps.filter(({ version }) => version > (found ?? 0))
  const isBesideOthers = found === null || missing.every(({ isAdditive }) => isAdditive)
  if (!isAlone) await requireFree(transaction, { server, schema, isBesideOthers })
  const all = missing.flatMap(({ version, isAdditive, statements }) => [
    ...statements,
    `UPDATE state SET version = ${version}${isAdditive ? '' : `, oldest = ${version}`}`,
  ])
  // one round trip: a new store has some sixty statements
  if (all.length > 0) await sql.raw(all.join(';\n')).execute(transaction)
}

/**
 * Keeps the store from being moved until the transaction ends; for steps that programs of before do
 * not know, also from being opened.
 */
async function requireFree(
  transaction: Transaction<Schema>,
  o: { server: PostgresServer; schema: string; isBesideOthers: boolean },
): Promise<void> {
  const { server, schema, isBesideOthers } = o
  const name = lockName(schema, 'presence')
  const call = sql.raw(`pg_try_advisory_xact_lock${isBesideOthers ? '_shared' : ''}`)
  const { rows } = await sql<{ taken: boolean }>`
    SELECT ${call}(hashtextextended(${name}, 0)) AS taken`.execute(transaction)
  const isOpen = async () =>
    (await sql.raw<{ open: boolean }>(isOpenIn(schema)).execute(transaction)).rows[0]?.open === true
  if (rows[0]?.taken === true && (isBesideOthers || !(await isOpen()))) return
  throw schemaInUse(server.address, isBesideOthers ? 'moved' : 'older')
}

/** Whether a store of this version needs no step. */
export const isNewest = (found: number | null, steps = POSTGRES_STEPS): boolean =>
  found !== null && found >= newestOf(steps)

const newestOf = (steps: readonly PostgresStep[]): number => steps.at(-1)?.version ?? 0
