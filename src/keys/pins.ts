import type { Selectable, Transaction } from 'kysely'
import type { PinsTable, Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Listeners } from '../util/listeners.ts'

/**
 * How far a person's fingerprint is trusted: `seen` first, `accepted` by the operator, `verified`
 * by the operator against the person's own word, or the person is `blocked`.
 */
export type TrustStanding = 'seen' | 'accepted' | 'verified' | 'blocked'

/** A person's fingerprint, and how far it is trusted. Times are ms since the epoch. */
export interface Pin {
  userId: number
  /** Null for somebody who was blocked before any certificate was seen. */
  fingerprint: string | null
  sinceMs: number
  standing: TrustStanding
  /**
   * The certificate that the service lists for them now, which is their claim to it; null when it
   * lists none, or was never seen to list any.
   */
  listed: string | null
  listedAtMs: number | null
  /** The certificate that was listed before; absent while there was none. */
  former?: FormerCertificate
}

/** A certificate that a person was listed with before the present one. */
export interface FormerCertificate {
  fingerprint: string
  /** When the change from it was seen, ms since the epoch. */
  changedAtMs: number
  /** It was the pinned one then. */
  wasPinned: boolean
}

/** A person of whom nothing is known. */
export const blankPin = (userId: number): Pin => ({
  userId,
  fingerprint: null,
  sinceMs: 0,
  standing: 'seen',
  listed: null,
  listedAtMs: null,
})

/** Every pin, in memory and in the store. */
export class Pins {
  readonly #pins = new Map<number, Pin>()
  readonly #rereadings = new Listeners()
  /** Who is listed with a certificate: one person, but for disputed ones. */
  readonly #listedBy = new Map<string, number | Set<number>>()

  static async load(store: Store): Promise<Pins> {
    const pins = new Pins()
    store.follow('pins', async (db, keys) => {
      const rows = await db
        .selectFrom('pins')
        .selectAll()
        .where('user_id', 'in', keys.map(Number))
        .execute()
      for (const row of rows) pins.set(fromRow(row))
      pins.#rereadings.emit()
    })
    const rows = await store.read((db) => db.selectFrom('pins').selectAll().execute())
    for (const row of rows) pins.set(fromRow(row))
    return pins
  }

  /** Calls back when pins were read again that another sidecar has changed. */
  onReread(listener: () => void): void {
    this.#rereadings.add(listener)
  }

  get(userId: number): Pin | undefined {
    return this.#pins.get(userId)
  }

  get size(): number {
    return this.#pins.size
  }

  /** Every pin, by person. */
  get all(): Pin[] {
    return [...this.#pins.values()].sort((a, b) => a.userId - b.userId)
  }

  /** How many people are listed with a certificate now. */
  claimsOn(fingerprint: string): number {
    const listedBy = this.#listedBy.get(fingerprint)
    if (listedBy === undefined) return 0
    return typeof listedBy === 'number' ? 1 : listedBy.size
  }

  /** Who is listed with a certificate now, by id. */
  claimantsOf(fingerprint: string): number[] {
    const listedBy = this.#listedBy.get(fingerprint) ?? []
    return typeof listedBy === 'number' ? [listedBy] : [...listedBy].sort((a, b) => a - b)
  }

  /** Remembers what `savePin` has written. */
  set(pin: Pin): void {
    const before = this.#pins.get(pin.userId)?.listed ?? null
    // one string for both, of which there are two hundred thousand
    const isSame = pin.listed !== null && pin.listed === pin.fingerprint
    this.#pins.set(pin.userId, isSame ? { ...pin, listed: pin.fingerprint } : pin)
    if (before === pin.listed) return
    if (before !== null) this.#unclaim(before, pin.userId)
    if (pin.listed !== null) this.#claim(isSame ? pin.fingerprint! : pin.listed, pin.userId)
  }

  #claim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (listedBy === undefined) this.#listedBy.set(fingerprint, userId)
    else if (typeof listedBy !== 'number') listedBy.add(userId)
    else this.#listedBy.set(fingerprint, new Set([listedBy, userId]))
  }

  #unclaim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (typeof listedBy === 'object') listedBy.delete(userId)
    if (listedBy === userId || this.claimsOn(fingerprint) === 0) this.#listedBy.delete(fingerprint)
  }
}

function fromRow(row: Selectable<PinsTable>): Pin {
  const former = row.former === null ? undefined : formerIn(row, row.former)
  return {
    ...(former && { former }),
    userId: row.user_id,
    fingerprint: row.fingerprint,
    sinceMs: row.since,
    standing: row.standing,
    listed: row.listed,
    listedAtMs: row.listed_at,
  }
}

const formerIn = (row: Selectable<PinsTable>, fingerprint: string): FormerCertificate => ({
  fingerprint,
  changedAtMs: row.former_at ?? 0,
  wasPinned: row.former_pinned === 1,
})

/** Writes a pin. */
export async function savePin(db: Transaction<Schema>, pin: Pin): Promise<void> {
  const row = {
    fingerprint: pin.fingerprint,
    since: pin.sinceMs,
    standing: pin.standing,
    listed: pin.listed,
    listed_at: pin.listedAtMs,
    former: pin.former?.fingerprint ?? null,
    former_at: pin.former?.changedAtMs ?? null,
    former_pinned: pin.former?.wasPinned === true ? 1 : 0,
  }
  await db
    .insertInto('pins')
    .values({ user_id: pin.userId, ...row })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
    .execute()
}
