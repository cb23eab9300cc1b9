/** The chain of the journal: each entry hashes the one before it (trust, README). */
import { hash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { TimeSlice } from '../util/scheduling.ts'
import type { Schema, SchemaRow } from './schema.ts'

/** The hash before the first entry. */
export const CHAIN_START = Buffer.alloc(32)
/** Rows that are read at once, in a few ms. */
const ROWS_AT_ONCE = 200

type JournalRow = SchemaRow<'journal'>
/** What the hash of an entry covers; `digest` is kept of an entry whose content was erased. */
export type ChainedRow = Pick<
  JournalRow,
  'at' | 'kind' | 'user_id' | 'chat_id' | 'detail' | 'salt' | 'digest'
>

/** Begins all that is hashed. */
const FORM = 'postern-journal-1'
const hex = (bytes: Uint8Array | null): string | null =>
  bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
const sha256 = (fields: readonly unknown[]): Buffer =>
  hash('sha256', JSON.stringify([FORM, ...fields]), 'buffer')

/** The digest of an entry's content, salted so that nobody finds an erased person by trying all. */
export const contentDigest = ({ salt, user_id, chat_id, detail, digest }: ChainedRow): Uint8Array =>
  digest ?? sha256([hex(salt), user_id, chat_id, detail])

/** The hash of an entry by that of the entry before it. */
export const hashAfter = (former: Uint8Array, row: ChainedRow): Buffer =>
  sha256([hex(former), row.at, row.kind, hex(contentDigest(row))])

/** All rows of the journal after one and up to another, in their order, some at a time. */
export async function* rowsBetween(
  db: Kysely<Schema>,
  { afterId, toId }: { afterId: number; toId: number },
): AsyncIterable<JournalRow[]> {
  const slice = new TimeSlice()
  for (let id = afterId; ;) {
    const rows = await db
      .selectFrom('journal')
      .selectAll()
      .where('id', '>', id)
      .where('id', '<=', toId)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    if (rows.length > 0) yield rows
    id = rows.at(-1)?.id ?? toId
    if (rows.length < ROWS_AT_ONCE) return
    await slice.yieldIfOver()
  }
}

/** The hash of the last entry up to an id; without one, of the head that replaces removed ones. */
export async function hashUpTo(db: Kysely<Schema>, toId: number): Promise<Uint8Array> {
  const entries = db.selectFrom('journal').select('hash').where('id', '<=', toId)
  const heads = db.selectFrom('journal_heads').select('hash').where('entry', '<=', toId)
  const last =
    (await entries.orderBy('id', 'desc').limit(1).executeTakeFirst()) ??
    (await heads.orderBy('entry', 'desc').limit(1).executeTakeFirst())
  return last?.hash ?? CHAIN_START
}
