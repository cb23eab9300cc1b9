import { createHash } from 'node:crypto'
import { isObject } from '../unseen.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Memory } from '../memory.ts'

/** A press is answered within a minute of its update (spec, Events); a bot may delay it. */
const KEPT_MS = 600_000
const KEPT = 10_000
/** Replaces the id of a chat that an update does not name; no chat has this id. */
const NO_CHAT = 0
/** An honest press is in one chat; a press in more than so many is clear in none. */
const MOST_CHATS = 16

/**
 * In which chats buttons were pressed lately, by the id of the press, for all sidecars of the bot. All
 * calls throw Refusal `postern_store_unwritable`.
 */
export class Presses {
  readonly #memory: Memory
  readonly #chats: BoundedMap<string, readonly number[]>
  #prunedAtMs = -Infinity

  constructor(memory: Memory) {
    this.#memory = memory
    this.#chats = new BoundedMap(KEPT, { ttlMs: KEPT_MS, nowMs: () => memory.nowMs() })
  }

  /**
   * Records the presses in updates. The spec does not name the field of a press, so every object of a
   * `callback_query` with an id counts as one.
   * @param updates each with its chat
   */
  async saw(updates: readonly { update: unknown; chatId: number | null }[]): Promise<void> {
    const seen = updates.flatMap(({ update, chatId }) =>
      idsIn(update).map((id) => ({ id: keyOf(id), chatId: chatId ?? NO_CHAT })),
    )
    for (const { id, chatId } of seen) {
      const known = this.#chats.get(id) ?? []
      const added = known.length < MOST_CHATS ? chatId : NO_CHAT
      if (!known.includes(added)) this.#chats.set(id, [...known, added])
    }
    if (seen.length === 0 || !this.#memory.isShared) return
    const nowMs = this.#memory.nowMs()
    await this.#memory.note(async ({ presses }) => {
      await presses.add(seen, nowMs)
      if (nowMs - this.#prunedAtMs >= KEPT_MS) await presses.forgetBefore(nowMs - KEPT_MS)
    })
    if (nowMs - this.#prunedAtMs >= KEPT_MS) this.#prunedAtMs = nowMs
  }

  /** Every chat of a press; empty when none is known, or an update of the press names none. */
  async chatsOf(callbackId: string): Promise<number[]> {
    const id = keyOf(callbackId)
    const chats = new Set(this.#chats.get(id))
    if (this.#memory.isShared) {
      const shared = this.#memory.read(({ presses }) => presses.chatsOf(id, MOST_CHATS + 1))
      for (const chatId of await shared) chats.add(chatId)
    }
    return chats.has(NO_CHAT) || chats.size > MOST_CHATS ? [] : [...chats]
  }
}

function idsIn(update: unknown): string[] {
  if (!isObject(update) || update['kind'] !== 'callback_query') return []
  return Object.entries(update).flatMap(([name, payload]) => {
    if (name === 'message' || !isObject(payload)) return []
    const { id } = payload
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : []
  })
}

/** Of one length for every id. */
const keyOf = (callbackId: string): string =>
  createHash('sha256').update(callbackId).digest('base64')
