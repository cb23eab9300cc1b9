import { createHmac } from 'node:crypto'
import type { MediaPlace, Memory, Records } from '../memory.ts'

/** The data opened under an id before, against the present data. */
export type OpenedBefore = 'same' | 'unsigned' | 'other' | 'none'

/** How many are remembered; the oldest go first. */
const KEPT = 50_000
/** How many more are written before the oldest are removed. */
const PRUNE_EVERY = 500

/**
 * The attachments in updates, which alone a bot may fetch, and the data opened under each id. All
 * calls throw Refusal `postern_store_unwritable`.
 */
export class NamedMedia {
  readonly #memory: Memory
  readonly #key: Buffer
  readonly #kept: number
  #sincePruned = PRUNE_EVERY

  /** @param key of these digests alone, @param kept how many are remembered */
  constructor(memory: Memory, key: Buffer, kept = KEPT) {
    this.#memory = memory
    this.#key = key
    this.#kept = kept
  }

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

  /** The first place of an id; null when no update named it. */
  async placeOf(mediaId: string): Promise<MediaPlace | null> {
    return await this.#memory.read(({ media }) => media.placeOf(mediaId))
  }

  /** `same` or `unsigned`: this data in this place; `other`: other data, or another place. */
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
   * Remembers opened data.
   * @param as `unsigned` where it is given as such
   * @returns false, with nothing remembered, when other data was opened under this id since
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
