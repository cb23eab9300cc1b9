/** The right to fetch one attachment, in its url: for bots that fetch without a token. */
import type { MediaPlace } from '../kernel/index.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MEDIA_ID } from '../api/updates.ts'

const MAC_BYTES = 32
const INTEGER = /^-?\d{1,16}$/

/** Makes and reads such urls; a place once given is good for ever, under the same key. */
export class Capability {
  readonly #key: Buffer
  readonly #bot: string | null

  /** @param bot whose attachments they are, where several share a door */
  constructor(key: Buffer, bot: string | null = null) {
    this.#key = key
    this.#bot = bot
  }

  /** The path of an attachment at our own door, with the right to fetch it in its query. */
  pathOf(place: MediaPlace): string {
    const { mediaId, chatId, userId } = place
    const query = new URLSearchParams({
      ...(this.#bot !== null && { bot: this.#bot }),
      chat: String(chatId),
    })
    if (userId !== null) query.set('from', String(userId))
    query.set('key', this.#mac(place).toString('base64url'))
    return `/media/${mediaId}?${query.toString()}`
  }

  /**
   * Reads the query of a request for an attachment.
   * @returns the place that it was made for; null for anything else
   */
  read(mediaId: string, query: string): MediaPlace | null {
    const given = new URLSearchParams(query)
    const [chat, from, key] = ['chat', 'from', 'key'].map((name) => only(given, name))
    if (chat == null || key == null || from === null || !MEDIA_ID.test(mediaId)) return null
    if (!INTEGER.test(chat) || (from !== undefined && !INTEGER.test(from))) return null
    const userId = from === undefined ? null : Number(from)
    const place = { mediaId, chatId: Number(chat), userId }
    const presented = Buffer.from(key, 'base64url')
    if (presented.length !== MAC_BYTES) return null
    return timingSafeEqual(presented, this.#mac(place)) ? place : null
  }

  #mac({ mediaId, chatId, userId }: MediaPlace): Buffer {
    const text = JSON.stringify(['attachment', mediaId, chatId, userId])
    return createHmac('sha256', this.#key).update(text).digest()
  }
}

/** The one value of a name: undefined when it is not there, null when it is there twice. */
function only(query: URLSearchParams, name: string): string | null | undefined {
  const values = query.getAll(name)
  return values.length > 1 ? null : values[0]
}
