import { sql } from 'kysely'
import { CHAT_KINDS } from '../../api/chat.ts'
import type { ChatRecords, Keys, KnownChat, PressRecords } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, insertNew, upsert, writeFlag } from './rows.ts'

/** The flag that lets readable words into private chats. */
export const PRIVATE_READABLE = 'private_readable_since'

/** Kinds, latches and people of chats. */
export class ChatRows extends Rows implements ChatRecords {
  async of(keys: Keys): Promise<KnownChat[]> {
    return (await this.sound('chats', keys && { id: keys })).map((row) => ({
      id: row.id,
      kind: sharedKind(row.kind),
      personId: row.person_id,
      latchedAtMs: row.latched_at,
      refusedAtMs: row.refused_at,
    }))
  }

  async save(chats: readonly KnownChat[], o: { liftedAtMs?: number } = {}): Promise<void> {
    for await (const { id, kind, personId, latchedAtMs, refusedAtMs } of inSlices(chats)) {
      const lifted = o.liftedAtMs === undefined ? {} : { lifted_at: o.liftedAtMs }
      const row = { id, kind, person_id: personId, latched_at: latchedAtMs, ...lifted }
      const sealed = this.seal.seal('chats', row)
      await upsert(this.db, 'chats', 'id', { ...sealed, refused_at: refusedAtMs })
    }
  }

  async touch(chatIds: readonly number[]): Promise<void> {
    // any update of a row counts as a change of it
    const isSame = { kind: sql<string>`kind` }
    await this.db.updateTable('chats').set(isSame).where('id', 'in', chatIds).execute()
  }

  async isPrivateReadable(): Promise<boolean> {
    return (await this.sound('flags', { name: PRIVATE_READABLE })).length > 0
  }

  async setPrivateReadable(sinceMs: number | null): Promise<void> {
    const name = PRIVATE_READABLE
    if (sinceMs === null) return await writeFlag(this.db, name, null)
    const row = this.seal.seal('flags', { name, value: String(sinceMs) })
    await upsert(this.db, 'flags', 'name', row)
  }
}

/** One string for all chats of a kind. */
const sharedKind = (kind: string): string => CHAT_KINDS.find((known) => known === kind) ?? kind

/** In which chats buttons were lately pressed. */
export class PressRows extends Rows implements PressRecords {
  async add(presses: readonly { id: string; chatId: number }[], seenAtMs: number): Promise<void> {
    const rows = presses.map(({ id, chatId }) =>
      this.seal.seal('presses', { id, chat_id: chatId, seen_at: seenAtMs }),
    )
    await insertNew(this.db, 'presses', rows)
  }

  async chatsOf(id: string, limit: number): Promise<number[]> {
    const rows = await this.sound('presses', { id })
    return rows.slice(0, limit).map((row) => row.chat_id)
  }

  async forgetBefore(seenAtMs: number): Promise<void> {
    await this.db.deleteFrom('presses').where('seen_at', '<', seenAtMs).execute()
  }
}
