/**
 * Up to where the bot has confirmed its updates, at whichever sidecar: what is known and below
 * it never happens again. An offset is recorded before the service gets it. A crash in between costs
 * nothing: the bot, or the webhook's poller, asks with the same offset again, for what is not below it.
 */
import { sql, type Kysely, type Expression } from 'kysely'
import { Refusal } from '../errors.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

const ROW = 1

export class ConfirmedUpdates {
  readonly #store: Store
  #heldBelow = 0
  #writtenBelow = 0

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Records that all updates below an id were confirmed; on disk when it resolves. Writes nothing
   * where that is known. A store of this process alone that cannot be written holds nothing up: the
   * id counts here at once, and is written with the next call.
   * @throws Refusal `postern_store_unwritable` when other sidecars cannot learn of it
   */
  async record(below: number): Promise<void> {
    if (below <= 0) return
    this.#heldBelow = Math.max(this.#heldBelow, below)
    try {
      await this.#write(below)
    } catch (error) {
      const isUnwritable = error instanceof Refusal && error.code === 'postern_store_unwritable'
      if (!isUnwritable || this.#store.isShared) throw error
    }
  }

  async #write(below: number): Promise<void> {
    if (below > this.#writtenBelow) {
      const raised = await this.#store.note((db) => raise(db, below), { isSingle: true })
      this.#writtenBelow = below
      if (raised?.counts_anew === 0) return
    }
    if (await this.#store.read((db) => isRecorded(db, below))) return
    await this.#store.note((db) => writeConfirmed(db, below))
  }

  /** Whether an update of this id was confirmed. */
  async includes(db: Kysely<Schema>, updateId: number): Promise<boolean> {
    if (updateId < this.#heldBelow) return true
    const row = await db.selectFrom('confirmed').select('below').executeTakeFirst()
    return row !== undefined && updateId < row.below
  }

  /** The same as an expression of SQL, 0 or 1: what asks no question of its own. */
  countsAnew(db: Kysely<Schema>, updateId: number): Expression<number> {
    if (updateId < this.#heldBelow) return sql.lit(1)
    return db
      .selectFrom('confirmed')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('below', '>', updateId)
      .$asScalar()
  }
}

/** The same as `record` within a transaction that writes more. The highest id counts. */
export async function writeConfirmed(db: Kysely<Schema>, below: number): Promise<void> {
  const raised = await raise(db, below)
  if (raised?.counts_anew === 0) return
  await db
    .updateTable('seen')
    .set({ counted_anew: 0 })
    .where('counted_anew', '=', sql.lit(1))
    .where('update_id', '<', below)
    .execute()
}

/** Notes that data is remembered under an id that was confirmed: `seen.counted_anew`. */
export async function noteCountedAnew(db: Kysely<Schema>): Promise<void> {
  await db.updateTable('confirmed').set({ counts_anew: 1 }).execute()
}

async function raise(
  db: Kysely<Schema>,
  below: number,
): Promise<{ counts_anew: number } | undefined> {
  return await db
    .insertInto('confirmed')
    .values({ id: ROW, below })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ below }).where('confirmed.below', '<', below),
    )
    .returning('counts_anew')
    .executeTakeFirst()
}

async function isRecorded(db: Kysely<Schema>, below: number): Promise<boolean> {
  const unconfirmed = db
    .selectFrom('seen')
    .select('update_id')
    .where('counted_anew', '=', sql.lit(1))
    .where('update_id', '<', below)
  const row = await db
    .selectFrom('confirmed')
    .select('id')
    .where('below', '>=', below)
    .where((is) => is.not(is.exists(unconfirmed)))
    .executeTakeFirst()
  return row !== undefined
}
