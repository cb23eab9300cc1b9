import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/**
 * How a person's fingerprint came to stand: `seen` first, `accepted` by the operator, `verified`
 * by the operator against the person's own word, or the person is `blocked`.
 */
export type Standing = 'seen' | 'accepted' | 'verified' | 'blocked'

/** A person's fingerprint as it stands. Times are ms since the epoch. */
export interface Pin {
  userId: number
  /** Null for somebody who was blocked before any certificate was seen. */
  fingerprint: string | null
  sinceMs: number
  standing: Standing
  /** What the service lists now; null when it was never seen to list anything. */
  listed: string | null
  listedAtMs: number | null
}

/** Every pin, in memory and in the store. */
export class Pins {
  readonly #pins = new Map<number, Pin>()

  static async load(store: Store): Promise<Pins> {
    const pins = new Pins()
    const rows = await store.read((db) => db.selectFrom('pins').selectAll().execute())
    for (const row of rows) {
      pins.took({
        userId: row.user_id,
        fingerprint: row.fingerprint,
        sinceMs: row.since,
        standing: row.standing,
        listed: row.listed,
        listedAtMs: row.listed_at,
      })
    }
    return pins
  }

  get(userId: number): Pin | undefined {
    return this.#pins.get(userId)
  }

  /** Every pin, by person. */
  get all(): Pin[] {
    return [...this.#pins.values()].sort((a, b) => a.userId - b.userId)
  }

  /** Takes in what `savePin` has put on disk. */
  took(pin: Pin): void {
    this.#pins.set(pin.userId, pin)
  }
}

/** Puts a pin on disk. */
export async function savePin(db: Transaction<Schema>, pin: Pin): Promise<void> {
  const row = {
    fingerprint: pin.fingerprint,
    since: pin.sinceMs,
    standing: pin.standing,
    listed: pin.listed,
    listed_at: pin.listedAtMs,
  }
  await db
    .insertInto('pins')
    .values({ user_id: pin.userId, ...row })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
    .execute()
}
