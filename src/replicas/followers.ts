import { FOLLOWED_TABLES, type FollowedTable, type Reread } from '../store/store.ts'
import type { Database } from './schema.ts'

/** Keys that are given to one reading at most. */
const AT_ONCE = 1000

/** What rests in memory, kept as the database is: what others changed is read again. */
export class Followers {
  readonly #rereads = new Map<FollowedTable, Reread[]>()
  #seen: number

  /** @param epoch of the database before anything was read from it */
  constructor(epoch: number) {
    this.#seen = epoch
  }

  add(table: FollowedTable, reread: Reread): void {
    this.#rereads.set(table, [...(this.#rereads.get(table) ?? []), reread])
  }

  /** The epoch up to which everything was read. */
  get seen(): number {
    return this.#seen
  }

  /**
   * Reads again what others have changed. Nothing may be written by this process meanwhile.
   * @param epoch up to which all is committed; what is newer may be read as well, and is read again
   */
  async catchUp(epoch: number, db: Database): Promise<void> {
    if (epoch === this.#seen) return
    const changed = await db
      .selectFrom('changes')
      .select(['relation', 'key'])
      .where('epoch', '>', this.#seen)
      .execute()
    const byTable = Map.groupBy(changed, ({ relation }): string => relation)
    for (const table of FOLLOWED_TABLES) {
      const keys = byTable.get(table)?.map(({ key }) => key) ?? []
      for (const reread of this.#rereads.get(table) ?? []) {
        for (let at = 0; at < keys.length; at += AT_ONCE) {
          await reread(db, keys.slice(at, at + AT_ONCE))
        }
      }
    }
    this.wrote(epoch)
  }

  /** Notes a write of our own, made when everything before it was read. */
  wrote(epoch: number): void {
    this.#seen = epoch
  }
}
