import type { MediaPlace, MediaRecords } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, insertNew } from './rows.ts'

/** Attachments that updates named, and the content opened under each id. */
export class MediaRows extends Rows implements MediaRecords {
  async name(places: readonly MediaPlace[]): Promise<void> {
    const named_at = Date.now()
    for await (const place of inSlices(places)) {
      await insertNew(this.db, 'media', { ...rowOf(place), named_at, digest: null })
    }
  }

  async prune(kept: number): Promise<void> {
    const oldest = this.db
      .selectFrom('media')
      .select('named_at')
      .orderBy('named_at', 'desc')
      .offset(kept)
      .limit(1)
    await this.db.deleteFrom('media').where('named_at', '<=', oldest).execute()
  }

  async placeOf(mediaId: string): Promise<MediaPlace | null> {
    const row = await this.db
      .selectFrom('media')
      .select(['id', 'chat_id', 'sender'])
      .where('id', '=', mediaId)
      .orderBy('named_at')
      .limit(1)
      .executeTakeFirst()
    return row === undefined ? null : placeOf(row)
  }

  async openedAs(mediaId: string): Promise<(MediaPlace & { digest: Uint8Array })[]> {
    const rows = await this.db
      .selectFrom('media')
      .selectAll()
      .where('id', '=', mediaId)
      .where('digest', 'is not', null)
      .execute()
    return rows.map((row) => ({ ...placeOf(row), digest: row.digest ?? new Uint8Array() }))
  }

  async setOpened(place: MediaPlace, digest: Uint8Array): Promise<void> {
    await this.db
      .insertInto('media')
      .values({ ...rowOf(place), named_at: Date.now(), digest })
      .onConflict((conflict) =>
        conflict.columns(['id', 'chat_id', 'sender']).doUpdateSet({ digest }),
      )
      .execute()
  }
}

const rowOf = ({ mediaId, chatId, userId }: MediaPlace) => ({
  id: mediaId,
  chat_id: chatId,
  sender: userId === null ? '' : String(userId),
})

const placeOf = (row: { id: string; chat_id: number; sender: string }): MediaPlace => ({
  mediaId: row.id,
  chatId: row.chat_id,
  userId: row.sender === '' ? null : Number(row.sender),
})
