import { BoundedMap } from '../../util/bounded-map.ts'
import type { Memory } from '../memory.ts'
import type { Journal } from './journal.ts'
import { listsKeyOf, type Person } from './person.ts'

/** Findings kept in memory, so that each is recorded once. */
const REMEMBERED = 10_000
/** People named in one entry. */
const NAMED = 100
/** One unknown sender a chat in this time: a service can invent people. */
const QUIET_MS = 3_600_000

/**
 * Records in the journal, once each, findings that no honest service or member causes. All calls throw
 * Refusal `postern_store_unwritable`.
 */
export class Findings {
  readonly #journal: Journal
  readonly #own: () => ReadonlySet<string>
  readonly #listers = new BoundedMap<string, string>(REMEMBERED)
  readonly #chats: BoundedMap<number, true>

  /** @param own fingerprints of all keys that ever were the bot's, primary keys and subkeys */
  constructor(memory: Memory, journal: Journal, own: () => ReadonlySet<string>) {
    this.#journal = journal
    this.#own = own
    const nowMs = (): number => memory.nowMs()
    this.#chats = new BoundedMap(REMEMBERED, { ttlMs: QUIET_MS, nowMs })
  }

  /**
   * Records people who are listed with a key of the bot's own.
   * @param chatId null for a person's own record
   */
  async recordOwnKeys(chatId: number | null, people: readonly Person[]): Promise<void> {
    const own = this.#own()
    const listed = people.filter((person) => listsKeyOf(person, own)).map(({ userId }) => userId)
    const [userId] = listed
    const source = chatId === null ? `person ${people[0]?.userId}` : `chat ${chatId}`
    if (userId === undefined) return this.#listers.delete(source)
    const text = listed.join()
    if (this.#listers.get(source) === text) return
    const detail = { chatId, people: listed.slice(0, NAMED) }
    await this.#journal.record([{ kind: 'own-key-listed', userId, detail }])
    this.#listers.set(source, text)
  }

  /** Records a writer or presser in another person's private chat. */
  async recordUnknownSender({ chatId, userId }: { chatId: number; userId: number }): Promise<void> {
    if (this.#chats.has(chatId)) return
    this.#chats.set(chatId, true)
    try {
      await this.#journal.record([{ kind: 'stranger', chatId, userId, detail: {} }])
    } catch (error) {
      this.#chats.delete(chatId)
      throw error
    }
  }
}
