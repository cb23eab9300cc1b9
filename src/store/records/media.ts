import type { MediaPlace, MediaRecords } from '../../kernel/index.ts'
import { inSlices } from '../../util/scheduling.ts'
import { Rows, insertNew, upsert } from './rows.ts'

/** Attachments that updates named, and the content opened under each id. */
export class MediaRows extends Rows implements MediaRecords {
  async name(places: readonly MediaPlace[]): Promise<void> {
    const named_at = Date.now()
    for await (const place of inSlices(places)) {
      const row = { ...rowOf(place), named_at, digest: null }
      await insertNew(this.db, 'media', this.seal.seal('media', row))
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
    const rows = await this.sound('media', { id: mediaId })
    const [first] = rows.toSorted((a, b) => a.named_at - b.named_at)
    return first === undefined ? null : placeOf(first)
  }

  async openedAs(mediaId: string): Promise<(MediaPlace & { digest: Uint8Array })[]> {
    const rows = await this.sound('media', { id: mediaId })
    return rows.flatMap(({ digest, ...row }) =>
      digest === null ? [] : { ...placeOf(row), digest },
    )
  }

  async setOpened(place: MediaPlace, digest: Uint8Array): Promise<void> {
    const [known] = await this.sound('media', rowOf(place))
    const row = { ...rowOf(place), named_at: known?.named_at ?? Date.now(), digest }
    const key = ['id', 'chat_id', 'sender'] as const
    await upsert(this.db, 'media', key, this.seal.seal('media', row))
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
