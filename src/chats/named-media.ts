import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import { TimeSlice } from '../util/scheduling.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** An attachment where it was found: its id, the chat, and who sent it. */
export interface MediaPlace {
  mediaId: string
  chatId: number
  /** Null where nobody is named. */
  userId: number | null
}

/** What was opened under an id before. */
export type OpenedBefore = 'same' | 'unsigned' | 'other' | 'none'

/** How many are remembered; the oldest go first. */
const KEPT = 50_000
/** How many more are written before the oldest are removed. */
const PRUNE_EVERY = 500

/**
 * The attachments that updates named: what a bot with its token alone may fetch, and what data was
 * opened under each id.
 */
export class NamedMedia {
  readonly #store: Store
  readonly #key: Buffer
  readonly #kept: number
  #sincePruned = PRUNE_EVERY

  /** @param key of this memory alone; @param kept how many are remembered */
  constructor(store: Store, key: Buffer, kept = KEPT) {
    this.#store = store
    this.#key = key
    this.#kept = kept
  }

  /**
   * Remembers what an answer names; on disk when it resolves.
   * @throws Refusal `postern_store_unwritable`
   */
  async name(places: readonly MediaPlace[]): Promise<void> {
    if (places.length === 0) return
    const nowMs = Date.now()
    this.#sincePruned += places.length
    const slice = new TimeSlice()
    await this.#store.write(async (db) => {
      for (const { mediaId, chatId, userId } of places) {
        await slice.yieldIfOver()
        const row = { id: mediaId, chat_id: chatId, sender: senderOf(userId) }
        await db
          .insertInto('media')
          .values({ ...row, named_at: nowMs, digest: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }
      if (this.#sincePruned < PRUNE_EVERY) return
      const oldest = db
        .selectFrom('media')
        .select('named_at')
        .orderBy('named_at', 'desc')
        .offset(this.#kept)
        .limit(1)
      await db.deleteFrom('media').where('named_at', '<=', oldest).execute()
      this.#sincePruned = 0
    })
  }

  /** Where an id was named first; null when no update named it. */
  async placeOf(mediaId: string): Promise<MediaPlace | null> {
    const row = await this.#store.read((db) =>
      db
        .selectFrom('media')
        .select(['chat_id', 'sender'])
        .where('id', '=', mediaId)
        .orderBy('named_at')
        .limit(1)
        .executeTakeFirst(),
    )
    if (row === undefined) return null
    return { mediaId, chatId: row.chat_id, userId: row.sender === '' ? null : Number(row.sender) }
  }

  /**
   * What was opened under this id before, as far as is remembered: this data in this place
   * (`unsigned` where it was given as such), other data or this in another place, or nothing.
   */
  async openedBefore(place: MediaPlace, dataDigest: string): Promise<OpenedBefore> {
    return await this.#store.read((db) => this.#openedBefore(db, place, dataDigest))
  }

  async #openedBefore(
    db: Kysely<Schema>,
    { mediaId, chatId, userId }: MediaPlace,
    dataDigest: string,
  ): Promise<OpenedBefore> {
    const rows = await db
      .selectFrom('media')
      .select(['chat_id', 'sender', 'digest'])
      .where('id', '=', mediaId)
      .where('digest', 'is not', null)
      .execute()
    if (rows.length === 0) return 'none'
    const isAll = (keyed: Buffer): boolean =>
      rows.every(
        ({ chat_id, sender, digest }) =>
          chat_id === chatId &&
          sender === senderOf(userId) &&
          digest !== null &&
          keyed.equals(digest),
      )
    if (isAll(this.#keyed(dataDigest))) return 'same'
    return isAll(this.#keyed(dataDigest, 'unsigned')) ? 'unsigned' : 'other'
  }

  /**
   * Remembers what was opened.
   * @param as `unsigned` where it is given as such
   * @returns false, with nothing remembered, when something else was opened under this id since it
   *   was asked for
   * @throws Refusal `postern_store_unwritable`
   */
  async opened(place: MediaPlace, dataDigest: string, as?: 'unsigned'): Promise<boolean> {
    const { mediaId, chatId, userId } = place
    const digest = this.#keyed(dataDigest, as)
    const row = { id: mediaId, chat_id: chatId, sender: senderOf(userId) }
    return await this.#store.write(async (db) => {
      if ((await this.#openedBefore(db, place, dataDigest)) === 'other') return false
      await db
        .insertInto('media')
        .values({ ...row, named_at: Date.now(), digest })
        .onConflict((conflict) =>
          conflict.columns(['id', 'chat_id', 'sender']).doUpdateSet({ digest }),
        )
        .execute()
      return true
    })
  }

  #keyed(digest: string, as?: 'unsigned'): Buffer {
    const text = as === undefined ? digest : `${as} ${digest}`
    return createHmac('sha256', this.#key).update(text).digest()
  }
}

const senderOf = (userId: number | null): string => (userId === null ? '' : String(userId))
