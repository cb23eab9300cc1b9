import { OperatorError } from '../../errors.ts'
import { describeAddress, type DatabaseAddress } from './address.ts'
import { advisoryLock, giveBack, type LockServer } from './locks.ts'
import { LIVING, lockName, presenceOf, THIS_PROCESS } from './schema.ts'

/** Why nobody may open a store, or have it alone. */
const IN_USE = {
  moved: [
    'is being moved',
    'wait until `postern store move` has ended, which prints its new place',
  ],
  open: ['is open in a sidecar', 'stop every sidecar of this bot first'],
  older: [
    'must be upgraded, and another sidecar uses it',
    'stop every sidecar of this bot, then start the new version',
  ],
} as const

/** The refusal of a store that others use. */
export function schemaInUse(address: DatabaseAddress, why: keyof typeof IN_USE): OperatorError {
  const [what, hint] = IN_USE[why]
  return new OperatorError('store-in-use', `the store in ${describeAddress(address)} ${what}`, hint)
}

/**
 * That this process has a store open: a row that names it, as `turnLock` documents. It is written
 * while nobody needs the store alone.
 */
export class Presence implements AsyncDisposable {
  readonly #server: LockServer
  readonly #schema: string
  #generation = 0
  #writing: Promise<void> | null = null

  constructor(server: LockServer, schema: string) {
    this.#server = server
    this.#schema = schema
  }

  /** False when it was lost with the session. */
  get isHeld(): boolean {
    const { session } = this.#server
    return session.isConnected && session.generation === this.#generation
  }

  /**
   * Writes the row, also again after the session was lost.
   * @throws OperatorError `store-in-use` when somebody needs the store alone; PostgresError `lost`, an
   *   error of pg
   */
  async ensure(): Promise<void> {
    if (this.isHeld) return
    this.#writing ??= this.#write().finally(() => (this.#writing = null))
    await this.#writing
  }

  async #write(): Promise<void> {
    const presence = presenceOf(this.#schema)
    const text = `
      WITH lock AS MATERIALIZED (
          SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 0)) AS taken),
        dead AS (DELETE FROM ${presence} WHERE process IN (
          SELECT process FROM ${presence} WHERE process NOT IN (${LIVING}) FOR UPDATE SKIP LOCKED)),
        mine AS (INSERT INTO ${presence} SELECT ${THIS_PROCESS} FROM lock WHERE taken
          ON CONFLICT DO NOTHING)
      SELECT taken, set_config('synchronous_commit', 'off', true) FROM lock`
    const name = lockName(this.#schema, 'presence')
    const [row] = await this.#server.ask<{ taken: boolean }>(text, [name])
    if (row?.taken !== true) throw schemaInUse(this.#server.address, 'moved')
    this.#generation = this.#server.session.generation
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isHeld) return
    this.#generation = 0
    const text = `DELETE FROM ${presenceOf(this.#schema)} WHERE process = ${THIS_PROCESS}`
    await giveBack(this.#server.session, { text })
  }
}

/**
 * Has a store for this process alone, which need not be there yet, until the result is disposed of.
 * @throws OperatorError `store-in-use` when a sidecar has it open, or another process alone;
 *   PostgresError `lost`, an error of pg
 */
export async function takeAlone(server: LockServer, schema: string): Promise<AsyncDisposable> {
  const { session, address } = server
  const lock = advisoryLock(lockName(schema, 'presence'))
  const [row] = await server.ask<{ taken: boolean }>(lock.take.text, lock.take.parameters)
  if (row?.taken !== true) throw schemaInUse(address, 'open')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => giveBack(session, lock.give('')))
  // a file that is read or written meanwhile may hold up everything else
  await server.ask(`SELECT set_config('idle_session_timeout', '0', false)`)
  const table = `SELECT to_regclass($1) IS NOT NULL AS there`
  const [found] = await server.ask<{ there: boolean }>(table, [presenceOf(schema)])
  const [state] = found?.there === true ? await server.ask<{ open: boolean }>(isOpenIn(schema)) : []
  if (state?.open === true) throw schemaInUse(address, 'open')
  return stack.move()
}

/** The query whether any process that lives has a store open. */
export const isOpenIn = (schema: string): string =>
  `SELECT EXISTS (SELECT FROM ${presenceOf(schema)} WHERE process IN (${LIVING})) AS open`
