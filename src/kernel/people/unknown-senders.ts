import { BoundedMap } from '../bounded-map.ts'
import type { Memory } from '../memory.ts'
import type { Journal } from './journal.ts'

const REMEMBERED = 10_000
/** One entry a chat in this time, for all its senders: a service can invent people. */
const QUIET_MS = 3_600_000

/** Writes to the journal who was seen in another person’s private chat. */
export class UnknownSenders {
  readonly #journal: Journal
  readonly #noted: BoundedMap<number, true>

  constructor(memory: Memory, journal: Journal) {
    this.#journal = journal
    const nowMs = (): number => memory.nowMs()
    this.#noted = new BoundedMap(REMEMBERED, { ttlMs: QUIET_MS, nowMs })
  }

  /**
   * Somebody wrote or pressed in a private chat that is another person's.
   * @throws Refusal `postern_store_unwritable`; the next sighting is then written
   */
  async record({ chatId, userId }: { chatId: number; userId: number }): Promise<void> {
    if (this.#noted.has(chatId)) return
    this.#noted.set(chatId, true)
    try {
      await this.#journal.record([{ kind: 'stranger', chatId, userId, detail: {} }])
    } catch (error) {
      this.#noted.delete(chatId)
      throw error
    }
  }
}
