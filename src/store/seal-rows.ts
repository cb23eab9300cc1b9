/** Gives the rows of a store their MACs with its first protection. */
import type { Kysely } from 'kysely'
import { inSlices } from '../util/scheduling.ts'
import { JournalRows } from './records/journal.ts'
import { changeRows, findRows } from './records/rows.ts'
import { RowSeal, SEALED_COLUMNS, coveredOf, type SealedTable } from './row-seal.ts'
import type { Schema } from './schema.ts'

/** In a store that had no protection, these may be anybody's: the operator gives them anew. */
const DECIDED: ReadonlySet<string> = new Set(['clients', 'trust_policies', 'flags'])

export async function sealRows(db: Kysely<Schema>, rowKey: Buffer): Promise<void> {
  const seal = new RowSeal(rowKey)
  const counts: Record<string, number> = {}
  for (const table of await filledTables(db)) {
    const rows = await findRows(db, table as 'journal', null)
    counts[table] = rows.length
    for await (const row of inSlices(rows)) {
      const { mac } = seal.seal(table, row as never)
      // its hash is no key
      const where = table === 'journal' ? { id: row.id } : coveredOf(table, row)
      await changeRows(db, table as 'journal', where, { mac })
    }
  }
  if (Object.keys(counts).length === 0) return
  // the hash of this entry covers all of before
  const entry = { kind: 'rows-sealed', userId: null, chatId: null, detail: counts }
  await new JournalRows(db, seal).append({ ...entry, isDecision: true })
}

/** The tables of sealed rows that have any, by one query: a new store has none. */
async function filledTables(db: Kysely<Schema>): Promise<SealedTable[]> {
  const tables = (Object.keys(SEALED_COLUMNS) as SealedTable[]).filter((one) => !DECIDED.has(one))
  const [found] = await db
    .selectNoFrom((of) =>
      tables.map((table) => of.exists(of.selectFrom(table).select(of.lit(1).as('one'))).as(table)),
    )
    .execute()
  return tables.filter((table) => Boolean(found?.[table]))
}
