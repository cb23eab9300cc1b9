import type { Transaction } from 'kysely'
import type { KeyChangesTable, Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** The service lists another certificate for a person than before, as the bot is told it. */
export interface KeyChange {
  userId: number
  /** Fingerprints. */
  from: string
  to: string
}

/** Where the bot is told: with a message of the person, and with the answer to a send to them. */
export type ToldWith = 'message' | 'send'

/** A change, and with what the bot was told of it; null while it was not. */
interface KnownChange extends KeyChange {
  message: string | null
  send: string | null
}

/** The last change of each person's certificate, until the bot was told and after. */
export class KeyChanges {
  readonly #store: Store
  readonly #changes = new Map<number, KnownChange>()

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<KeyChanges> {
    const changes = new KeyChanges(store)
    store.follow('key_changes', async (db, keys) => {
      const query = db.selectFrom('key_changes').selectAll()
      changes.#take(await query.where('user_id', 'in', keys.map(Number)).execute())
    })
    changes.#take(await store.read((db) => db.selectFrom('key_changes').selectAll().execute()))
    return changes
  }

  #take(rows: readonly KeyChangesTable[]): void {
    for (const { user_id: userId, before: from, now: to, message, send } of rows) {
      this.#changes.set(userId, { userId, from, to, message, send })
    }
  }

  /** Writes a change, of which the bot knows nothing yet. Call `saved` when the write is done. */
  async save(db: Transaction<Schema>, { userId, from, to }: KeyChange): Promise<void> {
    const row = { before: from, now: to, message: null, send: null }
    await db
      .insertInto('key_changes')
      .values({ user_id: userId, ...row })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
      .execute()
  }

  /** Remembers what `save` has written. */
  saved({ userId, from, to }: KeyChange): void {
    this.#changes.set(userId, { userId, from, to, message: null, send: null })
  }

  /**
   * The changes of people that the bot is told of now. Each is told once with a message and once
   * with a send; with the same update or send again when that is asked for again. What cannot be
   * written is told all the same, and after a restart once more.
   * @param key which update, or which send
   */
  async tell(userIds: Iterable<number>, by: ToldWith, key: string): Promise<KeyChange[]> {
    if (this.#changes.size === 0) return []
    const known = [...new Set(userIds)].flatMap((userId) => this.#changes.get(userId) ?? [])
    const told = known.filter((change) => change[by] === null || change[by] === key)
    const fresh = told.filter((change) => change[by] === null)
    for (const change of fresh) change[by] = key
    if (fresh.length > 0) await this.#write(fresh, by, key).catch(() => undefined)
    return told.map(({ userId, from, to }) => ({ userId, from, to }))
  }

  async #write(changes: readonly KnownChange[], by: ToldWith, key: string): Promise<void> {
    await this.#store.note(async (db) => {
      for (const { userId, to } of changes) {
        await db
          .updateTable('key_changes')
          .set({ [by]: key })
          .where('user_id', '=', userId)
          .where('now', '=', to)
          .execute()
      }
    })
  }
}
