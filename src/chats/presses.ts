import { countedCache } from '../counted-cache.ts'
import { isObject } from '../api/common.ts'

/** A press is answered within a minute of its update (spec, Events); a bot may hold one longer. */
const KEPT_MS = 600_000
const KEPT = 10_000

/** In which chats buttons were pressed lately, by the id of the press. */
export class Presses {
  readonly #chats = countedCache<string, number>(KEPT, { ttlMs: KEPT_MS })

  /**
   * An update is given to the bot. The spec does not name the field that holds a press, so every
   * object of a `callback_query` with an id is taken for one.
   * @param chatId the chat that the update speaks of
   */
  saw(update: unknown, chatId: number | null): void {
    if (chatId === null || !isObject(update) || update['kind'] !== 'callback_query') return
    for (const [name, payload] of Object.entries(update)) {
      if (name === 'message' || !isObject(payload)) continue
      const { id } = payload
      if (typeof id === 'string' || typeof id === 'number') this.#chats.set(String(id), chatId)
    }
  }

  /** The chat of a press; null when it was not seen lately. */
  chatOf(callbackId: string): number | null {
    return this.#chats.get(callbackId) ?? null
  }
}
