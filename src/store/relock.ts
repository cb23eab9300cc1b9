/** Moves all secrets from one protection to another. */
import type { Kysely, Transaction } from 'kysely'
import type { OpenProtection } from './protection.ts'
import { changeRows } from './records/rows.ts'
import { corrupt } from './refusals.ts'
import type { ProtectionTable, Schema } from './schema.ts'
import { noteScrub } from './scrub.ts'
import { sealRows } from './seal-rows.ts'
import type { Relock } from './store.ts'

/** Every locked key before and after. */
export type Relocked = ReadonlyMap<string, { was: string; becomes: string }>

/** The rows to write when everything secret moves to another protection. */
export interface ProtectionMove {
  from: OpenProtection | null
  to: { held: OpenProtection; row: ProtectionTable }
  relocked: Relocked
}

/** Locks every key anew without writing: this is slow, and other operations run meanwhile. */
export async function relockAll(
  db: Kysely<Schema>,
  o: { from: OpenProtection | null; to: OpenProtection; relock: Relock },
): Promise<Relocked> {
  const relocked = new Map<string, { was: string; becomes: string }>()
  const secrets = { from: o.from?.masterSecret ?? '', to: o.to.masterSecret }
  for (const { fingerprint, locked } of await keysOf(db)) {
    relocked.set(fingerprint, { was: locked, becomes: await o.relock(locked, secrets) })
  }
  return relocked
}

/**
 * Writes the move in a transaction that nothing else is written beside.
 * @returns false, with nothing written, when the keys are not those that were locked anew
 * @throws OperatorError `store-corrupt` when a sealed secret does not open under the old protection
 */
export async function writeMoveIn(
  transaction: Transaction<Schema>,
  o: ProtectionMove,
): Promise<boolean> {
  const keys = await keysOf(transaction)
  if (keys.some(({ fingerprint, locked }) => o.relocked.get(fingerprint)?.was !== locked)) {
    return false
  }
  for (const { fingerprint } of keys) {
    const locked = o.relocked.get(fingerprint)?.becomes ?? ''
    await changeRows(transaction, 'own_keys', { fingerprint }, { locked })
  }
  for (const { name, sealed } of await transaction.selectFrom('secrets').selectAll().execute()) {
    if (o.from === null) throw corrupt('a sealed secret was changed')
    const resealed = o.to.held.sealer.seal(name, o.from.sealer.unseal(name, sealed))
    await changeRows(transaction, 'secrets', { name }, { sealed: resealed })
  }
  await transaction.deleteFrom('protection').execute()
  await transaction.insertInto('protection').values(o.to.row).execute()
  if (o.from === null) await sealRows(transaction, o.to.held.rowKey)
  await noteScrub(transaction)
  return true
}

/** Of a destroyed key there is nothing to lock. */
function keysOf(db: Kysely<Schema>): Promise<{ fingerprint: string; locked: string }[]> {
  const keys = db.selectFrom('own_keys').select(['fingerprint', 'locked'])
  return keys.where('locked', '!=', '').execute()
}
