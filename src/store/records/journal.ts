import type { JournalEntry, JournalRecords } from '../../kernel/index.ts'
import { Rows } from './rows.ts'

/** A service that changes keys all day cannot fill the disk. */
const KEPT = 500_000
const PRUNE_EVERY = 1000

/** The append-only record of changes; only the oldest go. */
export class JournalRows extends Rows implements JournalRecords {
  async append(entry: Omit<JournalEntry, 'id' | 'atMs'>): Promise<void> {
    const { kind, userId, chatId, detail } = entry
    const { id } = await this.db
      .insertInto('journal')
      .values({
        at: Date.now(),
        kind,
        user_id: userId,
        chat_id: chatId,
        detail: JSON.stringify(detail),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (id % PRUNE_EVERY !== 0) return
    await this.db
      .deleteFrom('journal')
      .where('id', '<=', id - KEPT)
      .execute()
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
