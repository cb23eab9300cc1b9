/** The urls of attachments in updates: each gains the right to fetch it at our own door. */
import type { MediaPlace, NamedMedia } from '../kernel/index.ts'
import { isObject } from '../api/common.ts'
import { mediaIdOf } from '../api/updates.ts'
import { isOwnFailure } from '../errors.ts'
import type { Capability } from './capability.ts'

const MAX_DEPTH = 32
/** How many of one answer are remembered; their urls work in any case. */
const REMEMBERED = 1000

export interface MediaUrlsParts {
  capability: Capability
  named: NamedMedia
  /** Base url of the service, a possible prefix of a path. */
  upstreamUrl: string
}

interface Walk {
  /** The chat that the update speaks of. */
  chatId: number | null
  depth: number
}

export class MediaUrls {
  readonly #parts: MediaUrlsParts
  readonly #baseUrl: string

  constructor(parts: MediaUrlsParts) {
    this.#parts = parts
    this.#baseUrl = parts.upstreamUrl.replace(/\/+$/, '')
  }

  /**
   * Writes the urls of every media item of updates anew, quoted and pressed Messages' too, and records
   * the named files. An update is about one chat: an item that claims another chat gains no right.
   * @param updates each with its chat
   * @returns whether anything was changed; how many updates, from the first on, have all their files
   *   recorded
   * @throws Refusal (`isOwnFailure`) where that is none
   */
  async rewrite(
    updates: readonly { update: unknown; chatId: number | null }[],
  ): Promise<{ changed: boolean; count: number }> {
    const named = updates.map(({ update, chatId }) => {
      const places: MediaPlace[] = []
      this.#walk(update, { chatId, depth: 0 }, places)
      return places
    })
    const all = named.flat()
    const first = named.findIndex((places) => places.length > 0)
    try {
      await this.#parts.named.name(all.slice(0, REMEMBERED))
      return { changed: all.length > 0, count: updates.length }
    } catch (error) {
      if (!isOwnFailure(error) || first < 1) throw error
      return { changed: true, count: first }
    }
  }

  /** A quotation without a chat is in the chat of the message around it, and has its own sender. */
  #walk(value: unknown, at: Walk, places: MediaPlace[]): void {
    if (typeof value !== 'object' || value === null || at.depth > MAX_DEPTH) return
    const { chatId } = at
    // Nothing carries a file out of a chat that is named around it.
    if (isObject(value) && namesOther(value['chat'], chatId)) return
    if (isObject(value) && Array.isArray(value['media']) && chatId !== null) {
      const userId = senderOf(value)
      this.#write(value['media'], { chatId, userId, depth: at.depth }, places)
    }
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'media') this.#walk(inner, { chatId, depth: at.depth + 1 }, places)
    }
  }

  /** Further files of an item, such as a smaller picture, have urls of the same form. */
  #write(value: object, at: Omit<MediaPlace, 'mediaId'> & { depth: number }, places: MediaPlace[]) {
    if (at.depth > MAX_DEPTH) return
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'object' && inner !== null) {
        this.#write(inner as object, { ...at, depth: at.depth + 1 }, places)
        continue
      }
      const mediaId = typeof inner === 'string' ? mediaIdOf(inner, this.#baseUrl) : null
      if (mediaId === null) continue
      const place = { mediaId, chatId: at.chatId, userId: at.userId }
      places.push(place)
      ;(value as Record<string, unknown>)[key] = this.#parts.capability.pathOf(place)
    }
  }
}

/** Values other than objects name no chat. */
function namesOther(chat: unknown, chatId: number | null): boolean {
  if (chat === undefined || chat === null) return false
  return !isObject(chat) || chat['id'] !== chatId
}

function senderOf({ from }: Record<string, unknown>): number | null {
  const id = isObject(from) ? from['id'] : null
  return Number.isSafeInteger(id) ? (id as number) : null
}
