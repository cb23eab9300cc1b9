import { BoundedMap } from '../bounded-map.ts'
import type { Journal } from './journal.ts'
import type { Person } from './person.ts'

/** Lists whose finding is kept in memory, so that each is written down once. */
const REMEMBERED = 10_000
/** People named in one entry. */
const NAMED = 100

/** Writes down who is listed with a certificate or subkey of the bot's own. */
export class OwnKeyListings {
  readonly #journal: Journal
  readonly #own: () => ReadonlySet<string>
  readonly #found = new BoundedMap<string, string>(REMEMBERED)

  /** @param own fingerprints of all keys that ever were the bot's, primary keys and subkeys */
  constructor(journal: Journal, own: () => ReadonlySet<string>) {
    this.#journal = journal
    this.#own = own
  }

  /**
   * Looks at people whom the service lists; the same finding is written once.
   * @param chatId null when they are not from a chat's list
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(chatId: number | null, people: readonly Person[]): Promise<void> {
    const own = this.#own()
    const listed = people.filter((person) => listsKeyOf(person, own)).map(({ userId }) => userId)
    const [userId] = listed
    const source = chatId === null ? `person ${people[0]?.userId}` : `chat ${chatId}`
    if (userId === undefined) {
      this.#found.delete(source)
      return
    }
    const text = listed.join()
    if (this.#found.get(source) === text) return
    const detail = { chatId, people: listed.slice(0, NAMED) }
    await this.#journal.record([{ kind: 'own-key-listed', userId, detail }])
    this.#found.set(source, text)
  }
}

/** Whether a person is listed with one of these keys, as their certificate or in it. */
export function listsKeyOf(
  { fingerprint, certificateStatus }: Person,
  own: ReadonlySet<string>,
): boolean {
  if (fingerprint === null) return false
  return own.has(fingerprint) || certificateStatus.encryptionKeys.some((key) => own.has(key))
}
