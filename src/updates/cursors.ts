/** Which updates each consumer has, in the store. */
import { isDeepStrictEqual } from 'node:util'
import { findRows, upsert } from '../store/records/rows.ts'
import type { Reread, Store } from '../store/store.ts'
import type { Delivered } from './update-batch.ts'

/** The name of the bot's own cursor. */
export const BOT = ''

export interface Cursor {
  name: string
  /** The last update that it has; null: none. */
  delivered: Delivered | null
  /** How many updates it was given up to there: the number of a client's last one. */
  given: number
  /** Those after them that a client was shown, at any sidecar, under the next numbers. */
  shown: readonly Delivered[]
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
    const rows = await findRows(db, 'cursors', names && { name: names })
    for (const name of names ?? []) this.#cursors.delete(name)
    for (const { name, update_id: updateId, mark, given, shown: json } of rows) {
      const delivered = updateId === null || mark === null ? null : { updateId, mark }
      const shown = JSON.parse(json) as Delivered[]
      this.#cursors.set(name, { name, delivered, given, shown })
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
   * Moves the cursor of the bot or of a webhook.
   * @throws Refusal `postern_store_unwritable`; it is then known until the next start
   */
  async save(name: string, delivered: Delivered): Promise<void> {
    const cursor: Cursor = { name, delivered, given: 0, shown: [] }
    this.#cursors.set(name, cursor)
    await this.#store.write((db) => upsert(db, 'cursors', 'name', rowOf(cursor)))
  }

  /**
   * Moves a client's cursor over all that it was shown under numbers below `offset`: its next number
   * is at least `offset`. @throws Refusal `postern_store_unwritable`
   */
  async moveBelow(name: string, offset: number): Promise<void> {
    const moved = (cursor: Cursor | undefined): Cursor | undefined => {
      const count = cursor === undefined ? 0 : offset - 1 - cursor.given
      if (cursor === undefined || count <= 0) return cursor
      const { delivered, shown } = cursor
      const last = shown.slice(0, count).at(-1) ?? delivered
      return { name, delivered: last, given: offset - 1, shown: shown.slice(count) }
    }
    const known = this.#cursors.get(name)
    if (moved(known) !== known) await this.change(name, moved)
  }

  /**
   * Numbers updates that a client is shown next.
   * @returns the number of the first; null when the client has confirmed it at another sidecar
   * @throws Refusal `postern_store_unwritable`
   */
  async show(name: string, shown: readonly Delivered[]): Promise<number | null> {
    const isNext = ({ delivered }: Cursor): boolean =>
      (shown[0]?.updateId ?? -Infinity) > (delivered?.updateId ?? -Infinity)
    const cursor = await this.change(name, (known) => {
      if (known === undefined || !isNext(known)) return known
      // the client has the numbers of a longer reading
      const isPart = isDeepStrictEqual(known.shown.slice(0, shown.length), shown)
      return isPart ? known : { ...known, shown }
    })
    return cursor !== undefined && isNext(cursor) ? cursor.given + 1 : null
  }

  /**
   * Changes a cursor, or adds it. @throws Refusal `postern_store_unwritable`
   * @param how gives the cursor from that in the database, whichever sidecar wrote it
   */
  async change(
    name: string,
    how: (cursor: Cursor | undefined) => Cursor | undefined,
  ): Promise<Cursor | undefined> {
    const change = async (db: Parameters<Reread>[0]): Promise<Cursor | undefined> => {
      await this.#read(db, [name])
      const before = this.#cursors.get(name)
      const cursor = how(before)
      if (cursor && !isDeepStrictEqual(cursor, before))
        await upsert(db, 'cursors', 'name', rowOf(cursor))
      return cursor
    }
    return await this.#store.write(change, (cursor) => {
      if (cursor !== undefined) this.#cursors.set(name, cursor)
    })
  }

  /** Removes a cursor: it holds nothing back any more. @throws as `save` */
  async remove(name: string): Promise<void> {
    this.#cursors.delete(name)
    await this.#store.write((db) => db.deleteFrom('cursors').where('name', '=', name).execute())
  }
}

const rowOf = ({ name, delivered, given, shown }: Cursor) => ({
  name,
  update_id: delivered?.updateId ?? null,
  mark: delivered?.mark ?? null,
  given,
  shown: JSON.stringify(shown),
})
