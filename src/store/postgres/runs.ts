/** Repeats queries that a lost connection or a cancellation ended, on another connection. */
import { OvertakenError } from '../../errors.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { WITH_NEXT } from './connections.ts'
import { isCancelled, kindOf, type CommitLostError } from './failures.ts'
import type { PostgresSchema } from './schema.ts'
import type { PostgresServer } from './server.ts'

/** How often a query or transaction is run at most. */
const MOST_RUNS = 8
/** How long after its beginning a call is still run again, ms. */
const CALL_MS = 3000
/** Before it is run again on another connection, more with each time, ms. */
const PAUSE_MS = 25

/**
 * Runs a query or transaction, and runs it again after a failure that requires that: of the
 * database, a concurrent transaction or the connection, while the database answers other queries. A
 * commit without a response may have been kept: the caller must check (`isCommitted`), or the query
 * must be safe to repeat.
 * @throws the error of the last run
 */
export async function runAgain<T>(server: PostgresServer, run: () => Promise<T>): Promise<T> {
  const endsAtMs = performance.now() + CALL_MS
  for (let runs = 1; ; runs += 1) {
    try {
      await server.ensure()
      return await run()
    } catch (error) {
      if (runs === MOST_RUNS) throw error
      if (error instanceof OvertakenError || kindOf(error) === 'again') continue
      const isCut = kindOf(error) === 'lost' || isCancelled(error)
      if (!isCut || performance.now() > endsAtMs) throw error
      await server.probe().catch(() => Promise.reject(error))
      await pause(PAUSE_MS * runs)
    }
  }
}

/**
 * Whether a transaction was kept whose commit was not answered.
 * @param writer its number (`txid_current`)
 * @throws `loss` where the database does not report it
 */
export async function isCommitted(
  server: PostgresServer,
  writer: number,
  loss: CommitLostError,
): Promise<boolean> {
  for (let asked = 1; asked <= MOST_RUNS; asked += 1) {
    const text = 'SELECT txid_status($1) AS status'
    const answer = await server.ask<{ status: string | null }>(text, [writer]).catch(() => null)
    const status = answer?.[0]?.status ?? null
    if (status === null) throw loss
    if (status !== 'in progress') return status === 'committed'
    await pause(PAUSE_MS * asked)
  }
  throw loss
}

/**
 * Waits for every write before it, and raises the epoch.
 * @returns the new epoch, and the number of the transaction
 */
export const takeTurn = (
  db: Transaction<PostgresSchema>,
): Promise<{ epoch: number; writer: number }> =>
  db
    .updateTable('state')
    .set((state) => ({ epoch: state('epoch', '+', 1), writer: sql<number>`txid_current()` }))
    .returning(['epoch', 'writer'])
    .executeTakeFirstOrThrow()

/**
 * The same without waiting for an answer: the transaction fails where the epoch is not this one any
 * more, so that nothing it has written is kept.
 */
export const takeTurnAfter = (db: Transaction<PostgresSchema>, epoch: number): Promise<unknown> =>
  db
    .updateTable('state')
    .modifyEnd(sql.raw(WITH_NEXT))
    .set({
      epoch: sql<number>`epoch + 1 / (epoch = ${epoch})::int`,
      writer: sql<number>`txid_current()`,
    })
    .execute()
