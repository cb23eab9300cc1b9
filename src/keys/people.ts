import type { Kysely, Transaction } from 'kysely'
import type { PeopleTable, Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** A certificate, and the person who is its claimed owner. */
export interface Pair {
  fingerprint: string
  userId: number
}

/** What a person may have signed: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file'

const SIGNED_COLUMN = { words: 'signed_at', file: 'signed_files_at' } as const

/**
 * What is remembered of people for good: whose a certificate is by the operator's decision, and who
 * has ever signed. Only the operator changes either.
 */
export class People {
  readonly #store: Store
  readonly #ownerOf = new Map<string, number>()
  readonly #signed = { words: new Set<number>(), file: new Set<number>() }
  /** Of these, who is not on disk yet. */
  readonly #unwritten = { words: new Set<number>(), file: new Set<number>() }

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<People> {
    const people = new People(store)
    store.follow('certificates', (db, keys) => people.#rereadOwners(db, keys))
    store.follow('people', (db, keys) => people.#rereadSigned(db, keys.map(Number)))
    store.writeFirst({
      get isDue() {
        return people.#unwritten.words.size + people.#unwritten.file.size > 0
      },
      save: (db) => people.#saveUnwritten(db),
    })
    const [certificates, rows] = await Promise.all([
      store.read((db) =>
        db
          .selectFrom('certificates')
          .select(['fingerprint', 'owner'])
          .where('owner', 'is not', null)
          .execute(),
      ),
      store.read((db) => db.selectFrom('people').selectAll().execute()),
    ])
    for (const { fingerprint, owner } of certificates) {
      if (owner !== null) people.#ownerOf.set(fingerprint, owner)
    }
    for (const row of rows) people.#takeSigned(row)
    return people
  }

  async #rereadOwners(db: Kysely<Schema>, fingerprints: readonly string[]): Promise<void> {
    const rows = await db
      .selectFrom('certificates')
      .select(['fingerprint', 'owner'])
      .where('fingerprint', 'in', fingerprints)
      .execute()
    for (const fingerprint of fingerprints) this.#ownerOf.delete(fingerprint)
    for (const { fingerprint, owner } of rows) {
      if (owner !== null) this.#ownerOf.set(fingerprint, owner)
    }
  }

  async #rereadSigned(db: Kysely<Schema>, userIds: readonly number[]): Promise<void> {
    const rows = await db.selectFrom('people').selectAll().where('user_id', 'in', userIds).execute()
    for (const userId of userIds) this.signedForgotten(userId)
    for (const row of rows) this.#takeSigned(row)
  }

  #takeSigned(row: PeopleTable): void {
    if (row.signed_at !== null) this.#signed.words.add(row.user_id)
    if (row.signed_files_at !== null) this.#signed.file.add(row.user_id)
  }

  /** Whose certificate it is by the operator's decision; undefined without one. */
  ownerOf(fingerprint: string): number | undefined {
    return this.#ownerOf.get(fingerprint)
  }

  /** Whether the operator has named somebody else as the owner of a certificate. */
  isOthers({ fingerprint, userId }: Pair): boolean {
    const owner = this.#ownerOf.get(fingerprint)
    return owner !== undefined && owner !== userId
  }

  /** Writes that a certificate is a person's alone. Call `ownerSaved` when the write is done. */
  async saveOwner(db: Transaction<Schema>, { userId, fingerprint }: Pair): Promise<void> {
    await db
      .insertInto('certificates')
      .values({ fingerprint, owner: userId, revoked_armored: null })
      .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet({ owner: userId }))
      .execute()
  }

  /** Remembers what `saveOwner` has written. */
  ownerSaved({ userId, fingerprint }: Pair): void {
    this.#ownerOf.set(fingerprint, userId)
  }

  /** Whether the person has ever signed such a thing; from then on, one without is not theirs. */
  hasSigned(userId: number, kind: SignedKind): boolean {
    return this.#signed[kind].has(userId) || this.#unwritten[kind].has(userId)
  }

  /** It counts from the call on, also when this rejects. @throws Refusal `postern_store_unwritable` */
  async rememberSigned(userIds: number[], kind: SignedKind): Promise<void> {
    const unwritten = this.#unwritten[kind]
    for (const userId of userIds) {
      if (!this.#signed[kind].has(userId)) unwritten.add(userId)
    }
    if (userIds.some((userId) => unwritten.has(userId))) await this.#store.settle()
  }

  async #saveUnwritten(db: Transaction<Schema>): Promise<() => void> {
    const kinds = ['words', 'file'] as const
    const written = kinds.flatMap((kind) =>
      [...this.#unwritten[kind]].map((userId) => ({ kind, userId })),
    )
    for (const { kind, userId } of written) {
      const times = { [SIGNED_COLUMN[kind]]: Date.now() }
      await db
        .insertInto('people')
        .values({ user_id: userId, ...times })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(times))
        .execute()
    }
    return () => {
      for (const { kind, userId } of written) {
        this.#signed[kind].add(userId)
        this.#unwritten[kind].delete(userId)
      }
    }
  }

  /**
   * Writes that a person begins anew: forgets that they once signed words or files. Call
   * `signedForgotten` when the write is done.
   */
  async forgetSigned(db: Transaction<Schema>, userId: number): Promise<void> {
    await db
      .updateTable('people')
      .set({ signed_at: null, signed_files_at: null })
      .where('user_id', '=', userId)
      .execute()
  }

  /** Forgets in memory what `forgetSigned` has forgotten on disk. */
  signedForgotten(userId: number): void {
    for (const signed of Object.values(this.#signed)) signed.delete(userId)
  }
}
