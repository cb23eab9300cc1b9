/** Gives rows their MACs where there were none: in a store of before them, or without a protection. */
import type { Kysely } from 'kysely'
import { inSlices } from '../util/scheduling.ts'
import type { OpenProtection } from './protection.ts'
import { JournalRows } from './records/journal.ts'
import { PRIVATE_READABLE } from './records/chats.ts'
import { changeRows, findRow, findRows, upsert } from './records/rows.ts'
import { CHAIN_START } from './journal-chain.ts'
import { RowSeal, SEALED_COLUMNS, coveredOf, type SealedTable } from './row-seal.ts'
import type { Schema } from './schema.ts'

/** In a store that had no protection, these may be anybody's: the operator gives them anew. */
const DECIDED: ReadonlySet<string> = new Set(['clients', 'trust_policies', 'flags'])

/**
 * Seals all rows of a store of before MACs, once: its protection is then one of rows with MACs.
 * @returns false, with nothing written, where another process was first
 */
export async function sealStore(db: Kysely<Schema>, held: OpenProtection): Promise<boolean> {
  const { rowKey, unsealed } = held
  if (unsealed === null) return true
  const { master, digest } = unsealed.after
  return await db.transaction().execute(async (transaction) => {
    const before = { digest: unsealed.before.digest }
    if (!(await changeRows(transaction, 'protection', before, { master, digest }))) return false
    await sealRows(transaction, rowKey, { isFirst: false })
    await sealWebhook(transaction, held.sealer)
    return true
  })
}

/** Seals the url of the bot's webhook together with its secret (`updates/registration.ts`). */
async function sealWebhook(db: Kysely<Schema>, sealer: OpenProtection['sealer']): Promise<void> {
  const name = 'webhook'
  const url = (await db.selectFrom(name).select('url').executeTakeFirst())?.url ?? null
  if (url === null) return
  const row = await findRow(db, 'secrets', { name })
  const secret = row === undefined ? null : (sealer.open(name, row.sealed)?.toString() ?? null)
  const sealed = sealer.seal(name, Buffer.from(JSON.stringify({ url, secret })))
  await upsert(db, 'secrets', 'name', { name, sealed })
  await changeRows(db, name, { id: 1 }, { url: '' })
}

/** @param o `isFirst`: the store had no protection until now */
export async function sealRows(
  db: Kysely<Schema>,
  rowKey: Buffer,
  { isFirst }: { isFirst: boolean },
): Promise<void> {
  const seal = new RowSeal(rowKey)
  const counts: Record<string, number> = {}
  for (const table of Object.keys(SEALED_COLUMNS) as SealedTable[]) {
    if (table === 'journal_heads' || (isFirst && DECIDED.has(table))) continue
    const some = table === 'flags' ? { name: PRIVATE_READABLE } : null
    const rows = await findRows(db, table as 'flags', some)
    if (rows.length > 0) counts[table] = rows.length
    if (table === 'journal') continue
    for await (const row of inSlices(rows)) {
      const { mac } = seal.seal(table, row as never)
      await changeRows(db, table as 'flags', coveredOf(table, row), { mac })
    }
  }
  const anchor = await removedUpTo(db)
  if (anchor !== undefined) {
    const { entry } = anchor
    const { kept, mac } = seal.seal('journal_heads', { ...anchor, kept: CHAIN_START })
    await changeRows(db, 'journal_heads', { entry }, { kept, mac })
  }
  if (Object.keys(counts).length === 0) return
  // the hash of this entry covers all of before
  const entry = { kind: 'rows-sealed', userId: null, chatId: null, detail: counts }
  await new JournalRows(db, seal).append({ ...entry, isDecision: true })
}

/** The head of the last entry that was removed. */
async function removedUpTo(db: Kysely<Schema>) {
  const first = db.selectFrom('journal').select((one) => one.fn.min('id').as('id'))
  const heads = db.selectFrom('journal_heads').selectAll().where('entry', '<', first)
  return await heads.orderBy('entry', 'desc').executeTakeFirst()
}
