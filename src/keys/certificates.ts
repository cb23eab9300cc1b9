import type { Kysely } from 'kysely'
import { Refusal } from '../errors.ts'
import type { Engine, CertificateStatus } from '../openpgp/engine.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'

/** Certificates that are kept whole with their revocations; they can be 64 KiB each. */
const MOST_WHOLE = 20_000
/** Of more it is only kept that they are revoked, whatever of them was; beyond these, of none. */
const MOST_REVOKED = 250_000

export interface CertificatesOptions {
  /** Instead of `MOST_WHOLE` and `MOST_REVOKED`. */
  maxWhole?: number
  maxRevoked?: number
}

/**
 * Certificates, judged by the engine, which remembers them, and merged with what is known: a
 * revocation once seen sticks, across restarts.
 */
export class Certificates {
  readonly #engine: Engine
  readonly #store: Store
  readonly #maxWhole: number
  readonly #maxRevoked: number
  /** Fingerprints of those with revocations; the certificates rest on disk. */
  readonly #revoked = new Set<string>()

  private constructor(engine: Engine, store: Store, options: CertificatesOptions) {
    this.#engine = engine
    this.#store = store
    this.#maxWhole = options.maxWhole ?? MOST_WHOLE
    this.#maxRevoked = options.maxRevoked ?? MOST_REVOKED
  }

  static async load(
    engine: Engine,
    store: Store,
    options: CertificatesOptions = {},
  ): Promise<Certificates> {
    const certificates = new Certificates(engine, store, options)
    const revokedIn = (db: Kysely<Schema>) =>
      db.selectFrom('certificates').select('fingerprint').where('revoked_armored', 'is not', null)
    store.follow('certificates', async (db, keys) => {
      const rows = await revokedIn(db).where('fingerprint', 'in', keys).execute()
      for (const { fingerprint } of rows) certificates.#revoked.add(fingerprint)
    })
    const rows = await store.read((db) => revokedIn(db).execute())
    for (const { fingerprint } of rows) certificates.#revoked.add(fingerprint)
    return certificates
  }

  /** Whether a revocation is known, of a certificate or a part of it, which this status lacks. */
  isRevokedSince({ fingerprint, revocations, unusable }: CertificateStatus): boolean {
    if (revocations || unusable === 'revoked') return false
    return fingerprint !== null && this.#revoked.has(fingerprint)
  }

  /**
   * What an armored certificate is now. `unusable` takes the time into account.
   * @throws Error when the engine is gone
   */
  async judge(armored: string): Promise<CertificateStatus> {
    const certificateStatus = await this.#engine.judge(armored)
    const known = await this.#knownOf(certificateStatus.fingerprint)
    if (known === null) return certificateStatus
    return known === ''
      ? { ...certificateStatus, unusable: 'revoked', armored: '' }
      : await this.#engine.judge(armored, known)
  }

  /**
   * Remembers the revocations of a certificate.
   * @param made who revoked it, and where that is written down
   * @throws Refusal `postern_store_unwritable`
   */
  async rememberRevoked(
    certificateStatus: CertificateStatus,
    made: { userId: number; journal: Journal },
  ): Promise<void> {
    const { fingerprint, revocations, armored } = certificateStatus
    if (!revocations || fingerprint === null) return
    const known = await this.#knownOf(fingerprint)
    if (known === armored || known === '') return
    if (known === null && this.#revoked.size >= this.#maxRevoked) {
      throw new Refusal('postern_store_unwritable', 'no more revocations can be remembered')
    }
    const isWhole = known !== null || this.#revoked.size < this.#maxWhole
    const kept = isWhole ? armored : ''
    const change = { kind: 'key-revoked' as const, userId: made.userId, detail: { fingerprint } }
    await made.journal.record([change], async (db) => {
      const now = await readRevoked(db, fingerprint)
      // of two that were revoked in other ways at the same time, that they are is all that is kept
      const revoked_armored = now === known ? kept : ''
      await db
        .insertInto('certificates')
        .values({ fingerprint, owner: null, revoked_armored })
        .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet({ revoked_armored }))
        .execute()
    })
    this.#revoked.add(fingerprint)
  }

  /** The copy with revocations; empty where only that it is revoked is known, null for none. */
  async #knownOf(fingerprint: string | null): Promise<string | null> {
    if (fingerprint === null || !this.#revoked.has(fingerprint)) return null
    return (await this.#store.read((db) => readRevoked(db, fingerprint))) ?? ''
  }
}

async function readRevoked(db: Kysely<Schema>, fingerprint: string): Promise<string | null> {
  const row = await db
    .selectFrom('certificates')
    .select('revoked_armored')
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  return row?.revoked_armored ?? null
}
