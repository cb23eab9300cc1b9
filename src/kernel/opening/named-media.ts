import { createHmac } from 'node:crypto'
import type { MediaPlace, Memory, Records } from '../memory.ts'

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
  readonly #memory: Memory
  readonly #key: Buffer
  readonly #kept: number
  #sincePruned = PRUNE_EVERY

  /** @param key of this memory alone; @param kept how many are remembered */
  constructor(memory: Memory, key: Buffer, kept = KEPT) {
    this.#memory = memory
    this.#key = key
    this.#kept = kept
  }

  /**
   * Remembers what an answer names; on disk when it resolves.
   * @throws Refusal `postern_store_unwritable`
   */
  async name(places: readonly MediaPlace[]): Promise<void> {
    if (places.length === 0) return
    this.#sincePruned += places.length
    await this.#memory.write(async ({ media }) => {
      await media.name(places)
      if (this.#sincePruned < PRUNE_EVERY) return
      await media.prune(this.#kept)
      this.#sincePruned = 0
    })
  }

  /** Where an id was named first; null when no update named it. */
  async placeOf(mediaId: string): Promise<MediaPlace | null> {
    return await this.#memory.read(({ media }) => media.placeOf(mediaId))
  }

  /**
   * What was opened under this id before, as far as is remembered: this data in this place
   * (`unsigned` where it was given as such), other data or this in another place, or nothing.
   */
  async openedBefore(place: MediaPlace, dataDigest: string): Promise<OpenedBefore> {
    return await this.#memory.read((records) => this.#openedBefore(records, place, dataDigest))
  }

  async #openedBefore(
    { media }: Records,
    { mediaId, chatId, userId }: MediaPlace,
    dataDigest: string,
  ): Promise<OpenedBefore> {
    const known = await media.openedAs(mediaId)
    if (known.length === 0) return 'none'
    const isAll = (keyed: Buffer): boolean =>
      known.every(
        (one) => one.chatId === chatId && one.userId === userId && keyed.equals(one.digest),
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
    const digest = this.#keyed(dataDigest, as)
    return await this.#memory.write(async (records) => {
      if ((await this.#openedBefore(records, place, dataDigest)) === 'other') return false
      await records.media.setOpened(place, digest)
      return true
    })
  }

  #keyed(digest: string, as?: 'unsigned'): Buffer {
    const text = as === undefined ? digest : `${as} ${digest}`
    return createHmac('sha256', this.#key).update(text).digest()
  }
}
