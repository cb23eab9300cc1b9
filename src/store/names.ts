import { countedCache } from '../util/caches.ts'
import { upsert } from './records/rows.ts'
import type { Store } from './store.ts'

/** Most people whose handle is compared in memory before it is written. */
const REMEMBERED = 2000
/** The service's form of a handle; any other text is not a handle. */
const HANDLE = /^\w{3,32}$/

/**
 * The handles of people, shown to the operator alone: the service supplies them without proof, and
 * no decision depends on them.
 */
export class Names {
  readonly #store: Store
  readonly #recent = countedCache<number, string>(REMEMBERED)

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * People were seen with these handles. One write for all that is new.
   * @throws Refusal `postern_store_unwritable`; they are then written when they are seen again
   */
  async saw(people: readonly { userId: number; username: string }[]): Promise<void> {
    const fresh = people.filter(
      ({ userId, username }) => HANDLE.test(username) && this.#recent.get(userId) !== username,
    )
    if (fresh.length === 0) return
    await this.#store.note(async (db) => {
      for (const { userId, username } of fresh) {
        await upsert(db, 'names', 'user_id', { user_id: userId, username })
      }
    })
    for (const { userId, username } of fresh) this.#recent.set(userId, username)
  }

  /** Has handles written again that are seen again. */
  forgetRecent(): void {
    this.#recent.clear()
  }

  /** Every handle, by person. */
  async all(): Promise<Map<number, string>> {
    const rows = await this.#store.read((db) => db.selectFrom('names').selectAll().execute())
    return new Map(rows.map(({ user_id, username }) => [user_id, username]))
  }
}
