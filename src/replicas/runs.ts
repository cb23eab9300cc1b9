/** Running again, on another connection, what a lost connection or a cancelled query ended. */
import { OvertakenError } from '../errors.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { Refusal } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import { CommitLostError, isCancelled, kindOf, type FailureKind } from './failures.ts'
import type { PostgresSchema } from './schema.ts'
import type { PostgresServer } from './server.ts'

/** A change as callers write it. */
export type Change<T> = (db: Transaction<Schema>) => Promise<T>

/** What ends by an operator's hand, while the database answers others. */
const UNUSABLE: readonly FailureKind[] = ['storage', 'rights', 'blocked', 'damaged', 'again']
const DETAILS: Partial<Record<FailureKind, string>> = {
  lost: 'the database is out of reach',
  'read-only': 'the database is out of reach',
  pooled: 'a pooler stands before the database',
  'rolled-back': 'the database is behind what this sidecar has seen of it',
}

/** How often a query or transaction is run at most. */
const MOST_RUNS = 8
/** How long after its beginning a call is still run again, ms. */
const CALL_MS = 3000
/** Before it is run again on another connection, more with each time, ms. */
const PAUSE_MS = 25

/**
 * Runs a query or transaction, and runs it again where the database, another transaction or the loss
 * of its connection asks for that, while the database answers others. What is lost at its commit may
 * have been kept: the caller must have asked (`isCommitted`), or nothing depends on it.
 * @throws what the last run threw
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
      if (!isCut || performance.now() > endsAtMs || !(await isReached(server))) throw error
      await pause(PAUSE_MS * runs)
    }
  }
}

/**
 * Whether a transaction was kept whose commit was not answered.
 * @param writer its number (`txid_current`)
 * @throws the loss itself where the database does not say
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

const isReached = (server: PostgresServer): Promise<boolean> =>
  server.probe().then(
    () => true,
    () => false,
  )

/** Whether a failure shows that the store cannot be used, while the database is in reach. */
export function isUnusable(error: unknown, { reachability }: PostgresServer): boolean {
  const kind = kindOf(error)
  return UNUSABLE.includes(kind) || (kind === 'lost' && reachability === 'reachable')
}

/** The refusal for a failure of the database; the error itself where it is a mistake of ours. */
export function refusalOf(error: unknown, server: PostgresServer): unknown {
  const kind = kindOf(error)
  if (kind === 'mistake') return error
  // a standby answers, and takes no writes: whatever is connected must be looked for anew
  if (kind === 'read-only') server.lose()
  return new Refusal('postern_store_unwritable', DETAILS[kind] ?? '', { cause: error })
}

/**
 * Waits for every write before it, and raises the epoch.
 * @returns the new epoch, and the number of the transaction
 */
export async function takeTurn(
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
