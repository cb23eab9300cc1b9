import { countedCache } from '../../util/caches.ts'
import type { Journal } from './journal.ts'

const REMEMBERED = 10_000
/** One entry a chat in this time, for all its senders: a service can invent people. */
const QUIET_MS = 3_600_000

/** Writes to the journal who was seen in another person’s private chat. */
export class UnknownSenders {
  readonly #journal: Journal
  readonly #noted = countedCache<number, true>(REMEMBERED, { ttlMs: QUIET_MS })

  constructor(journal: Journal) {
    this.#journal = journal
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
