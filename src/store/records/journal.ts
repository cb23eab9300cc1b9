import { randomBytes } from 'node:crypto'
import type { JournalEntry, JournalRecords } from '../../kernel/index.ts'
import { hashAfter, hashUpTo } from '../journal-chain.ts'
import { Rows, upsert } from './rows.ts'

/** A service that changes keys all day cannot fill the disk. */
export const KEPT_ENTRIES = 500_000
const PRUNE_EVERY = 1000
const SALT_BYTES = 16

/** The append-only record of changes, chained; only the oldest go. */
export class JournalRows extends Rows implements JournalRecords {
  /** The hash of the last entry, once this transaction has read it. */
  #former: Uint8Array | null = null

  async append(entry: Omit<JournalEntry, 'id' | 'atMs'>): Promise<void> {
    const { kind, userId, chatId, detail } = entry
    this.#former ??= await hashUpTo(this.db, Number.MAX_SAFE_INTEGER)
    const content = { user_id: userId, chat_id: chatId, detail: JSON.stringify(detail) }
    const row = { at: Date.now(), kind, ...content, salt: randomBytes(SALT_BYTES), digest: null }
    this.#former = hashAfter(this.#former, row)
    const { id } = await this.db
      .insertInto('journal')
      .values({ ...row, hash: this.#former })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (id % PRUNE_EVERY === 0) await this.#prune(id - KEPT_ENTRIES)
  }

  /** Removes entries up to an id; the hash of the last of them stays, for a head to be signed on it. */
  async #prune(toId: number): Promise<void> {
    const last = await this.db
      .selectFrom('journal')
      .select((row) => row.fn.max('id').as('id'))
      .where('id', '<=', toId)
      .executeTakeFirst()
    if (last?.id == null) return
    const head = { entry: last.id, hash: await hashUpTo(this.db, last.id), at: Date.now() }
    await upsert(this.db, 'journal_heads', 'entry', { ...head, signed: null })
    await this.db.deleteFrom('journal_heads').where('entry', '<', last.id).execute()
    await this.db.deleteFrom('journal').where('id', '<=', last.id).execute()
  }

  async read(from: Parameters<JournalRecords['read']>[0]): Promise<JournalEntry[]> {
    const { client } = from
    const all = this.db
      .selectFrom('journal')
      .select(['id', 'at as atMs', 'kind', 'user_id as userId', 'chat_id as chatId', 'detail'])
      .where('id', '>', from.afterId)
      .where('at', '>=', from.sinceMs)
      .orderBy('id')
      .limit(from.limit)
    const chosen =
      client === undefined
        ? all
        : all
            .where('kind', 'like', 'client-%')
            .where('detail', 'like', `${JSON.stringify({ client }).slice(0, -1)}%`)
    const rows = await chosen.execute()
    return rows.map((row) => ({
      ...row,
      detail: JSON.parse(row.detail) as Record<string, unknown>,
    }))
  }
}
