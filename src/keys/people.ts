import type { Transaction } from 'kysely'
import { Breath } from '../breath.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** Whom a certificate is listed for. */
export interface Pair {
  fingerprint: string
  userId: number
}

/** What a person may have signed: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file'

const SIGNED_COLUMN = { words: 'signed_at', file: 'signed_files_at' } as const

/**
 * What is remembered of people for good: whose a fingerprint is, and who has ever signed.
 * Both only tighten without the operator.
 */
export class People {
  readonly #store: Store
  readonly #ownerOf = new Map<string, number>()
  readonly #signed = { words: new Set<number>(), file: new Set<number>() }

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<People> {
    const people = new People(store)
    const [certificates, rows] = await Promise.all([
      store.read((db) =>
        db.selectFrom('certificates').select(['fingerprint', 'user_id']).execute(),
      ),
      store.read((db) => db.selectFrom('people').selectAll().execute()),
    ])
    for (const row of certificates) people.#ownerOf.set(row.fingerprint, row.user_id)
    for (const row of rows) {
      if (row.signed_at !== null) people.#signed.words.add(row.user_id)
      if (row.signed_files_at !== null) people.#signed.file.add(row.user_id)
    }
    return people
  }

  /** Whose fingerprint it is, as first seen; undefined when it was never seen. */
  ownerOf(fingerprint: string): number | undefined {
    return this.#ownerOf.get(fingerprint)
  }

  /** Those whose certificate was never seen before, with anybody. */
  unbound(pairs: readonly Pair[]): Pair[] {
    return pairs.filter(({ fingerprint }) => !this.#ownerOf.has(fingerprint))
  }

  /**
   * Puts on disk whose certificates these are; those already known stay with whom they were.
   * `bound` follows when the write is done.
   */
  async saveBound(db: Transaction<Schema>, pairs: readonly Pair[]): Promise<void> {
    const breath = new Breath()
    const nowMs = Date.now()
    for (const { fingerprint, userId } of pairs) {
      await breath.take()
      await db
        .insertInto('certificates')
        .values({ fingerprint, user_id: userId, first_seen_at: nowMs, revoked_armored: null })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  }

  /** Takes in what `saveBound` has put on disk. */
  bound(pairs: readonly Pair[]): void {
    for (const { fingerprint, userId } of pairs) {
      if (!this.#ownerOf.has(fingerprint)) this.#ownerOf.set(fingerprint, userId)
    }
  }

  /** Whether the person has ever signed such a thing; from then on, one without is not theirs. */
  hasSigned(userId: number, kind: SignedKind): boolean {
    return this.#signed[kind].has(userId)
  }

  /** @throws Refusal `postern_store_unwritable` */
  async rememberSigned(userIds: number[], kind: SignedKind): Promise<void> {
    const signed = this.#signed[kind]
    const unknown = userIds.filter((userId) => !signed.has(userId))
    if (unknown.length === 0) return
    const times = { [SIGNED_COLUMN[kind]]: Date.now() }
    await this.#store.note(async (db) => {
      for (const userId of unknown) {
        await db
          .insertInto('people')
          .values({ user_id: userId, ...times })
          .onConflict((conflict) => conflict.column('user_id').doUpdateSet(times))
          .execute()
      }
    })
    for (const userId of unknown) signed.add(userId)
  }

  /**
   * Puts on disk that a person begins anew by the operator's word: the certificate is theirs
   * alone, and that they once signed is forgotten. `startedAnew` follows when the write is done.
   */
  async saveAnew(
    db: Transaction<Schema>,
    { userId, fingerprint }: { userId: number; fingerprint: string },
  ): Promise<void> {
    await db
      .insertInto('certificates')
      .values({ fingerprint, user_id: userId, first_seen_at: Date.now(), revoked_armored: null })
      .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet({ user_id: userId }))
      .execute()
    await db
      .updateTable('people')
      .set({ signed_at: null, signed_files_at: null })
      .where('user_id', '=', userId)
      .execute()
  }

  /** Takes in what `saveAnew` has put on disk. */
  startedAnew({ userId, fingerprint }: { userId: number; fingerprint: string }): void {
    this.#ownerOf.set(fingerprint, userId)
    for (const signed of Object.values(this.#signed)) signed.delete(userId)
  }
}
