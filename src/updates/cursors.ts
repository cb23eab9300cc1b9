/** Which updates each consumer has, in the store. */
import { upsert } from '../store/records/rows.ts'
import type { Reread, Store } from '../store/store.ts'
import type { Delivered } from './update-batch.ts'

/** The name of the bot's own cursor. */
export const BOT = ''

export interface Cursor {
  name: string
  /** The last update that it has; null: none. */
  delivered: Delivered | null
  /** How many updates it was given up to there. */
  given: number
}

export class Cursors {
  readonly #store: Store
  readonly #cursors = new Map<string, Cursor>()

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<Cursors> {
    const cursors = new Cursors(store)
    store.follow('cursors', (db, names) => cursors.#read(db, names))
    await store.read((db) => cursors.#read(db, null))
    return cursors
  }

  async #read(db: Parameters<Reread>[0], names: readonly string[] | null): Promise<void> {
    const all = db.selectFrom('cursors').selectAll()
    const rows = await (names === null ? all : all.where('name', 'in', names)).execute()
    for (const name of names ?? []) this.#cursors.delete(name)
    for (const { name, update_id: updateId, mark, given } of rows) {
      const delivered = updateId === null || mark === null ? null : { updateId, mark }
      this.#cursors.set(name, { name, delivered, given })
    }
  }

  get all(): Cursor[] {
    return [...this.#cursors.values()]
  }

  get(name: string): Cursor | undefined {
    return this.#cursors.get(name)
  }

  /** Reads what other sidecars have written. @throws Refusal `postern_store_unwritable` */
  async fresh(): Promise<void> {
    await this.#store.fresh()
  }

  /**
   * Moves cursors, or adds them.
   * @throws Refusal `postern_store_unwritable`; they are then known until the next start
   */
  async save(...cursors: readonly Cursor[]): Promise<void> {
    if (cursors.length === 0) return
    for (const cursor of cursors) this.#cursors.set(cursor.name, cursor)
    const rows = cursors.map(({ name, delivered, given }) => {
      return { name, update_id: delivered?.updateId ?? null, mark: delivered?.mark ?? null, given }
    })
    await this.#store.write((db) => upsert(db, 'cursors', 'name', rows))
  }

  /** Removes a cursor: it holds nothing back any more. @throws as `save` */
  async remove(name: string): Promise<void> {
    this.#cursors.delete(name)
    await this.#store.write((db) => db.deleteFrom('cursors').where('name', '=', name).execute())
  }
}
