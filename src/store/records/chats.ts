import { sql } from 'kysely'
import { CHAT_KINDS } from '../../api/chat.ts'
import type { ChatRecords, Keys, KnownChat, PressRecords } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, insertNew, readFlag, upsert, writeFlag } from './rows.ts'

const PRIVATE_READABLE = 'private_readable_since'

/** Kinds, latches and people of chats. */
export class ChatRows extends Rows implements ChatRecords {
  async of(keys: Keys): Promise<KnownChat[]> {
    const all = this.db
      .selectFrom('chats')
      .select(['id', 'kind', 'person_id as personId'])
      .select(['latched_at as latchedAtMs', 'refused_at as refusedAtMs'])
    const rows = keys === null ? all : all.where('id', 'in', keys.map(Number))
    return (await rows.execute()).map((row) => ({ ...row, kind: sharedKind(row.kind) }))
  }

  async save(chats: readonly KnownChat[], o: { liftedAtMs?: number } = {}): Promise<void> {
    for await (const { id, kind, personId, latchedAtMs, refusedAtMs } of inSlices(chats)) {
      const lifted = o.liftedAtMs === undefined ? {} : { lifted_at: o.liftedAtMs }
      const times = { latched_at: latchedAtMs, refused_at: refusedAtMs, ...lifted }
      await upsert(this.db, 'chats', 'id', { id, kind, person_id: personId, ...times })
    }
  }

  async touch(chatIds: readonly number[]): Promise<void> {
    // any update of a row counts as a change of it
    const isSame = { kind: sql<string>`kind` }
    await this.db.updateTable('chats').set(isSame).where('id', 'in', chatIds).execute()
  }

  async isPrivateReadable(): Promise<boolean> {
    return (await readFlag(this.db, PRIVATE_READABLE)) !== null
  }

  async setPrivateReadable(sinceMs: number | null): Promise<void> {
    await writeFlag(this.db, PRIVATE_READABLE, sinceMs === null ? null : String(sinceMs))
  }
}

/** One string for all chats of a kind. */
const sharedKind = (kind: string): string => CHAT_KINDS.find((known) => known === kind) ?? kind

/** In which chats buttons were lately pressed. */
export class PressRows extends Rows implements PressRecords {
  async add(presses: readonly { id: string; chatId: number }[], seenAtMs: number): Promise<void> {
    const rows = presses.map(({ id, chatId }) => ({ id, chat_id: chatId, seen_at: seenAtMs }))
    await insertNew(this.db, 'presses', rows)
  }

  async chatsOf(id: string, limit: number): Promise<number[]> {
    const rows = this.db.selectFrom('presses').select('chat_id').where('id', '=', id).limit(limit)
    return (await rows.execute()).map((row) => row.chat_id)
  }

  async forgetBefore(seenAtMs: number): Promise<void> {
    await this.db.deleteFrom('presses').where('seen_at', '<', seenAtMs).execute()
  }
}
