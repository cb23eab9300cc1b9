import type { Kysely, Transaction } from 'kysely'
import { Refusal } from '../errors.ts'
import type { Engine, CertificateStatus } from '../openpgp/engine.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'

/** Certificates that are kept whole with their revocations; they can be 64 KiB each. */
const MOST_WHOLE = 20_000
/** Of more it is only kept that they are revoked, whatever of them was; beyond these, of none. */
const MOST_REVOKED = 250_000

interface UnwrittenRevocation {
  kept: string
  known: string | null
  userId: number
  journal: Journal
}

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
  /** Those that are not on disk yet: what is kept of each, what the store had, who revoked it. */
  readonly #unwritten = new Map<string, UnwrittenRevocation>()

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
    store.writeFirst({
      get isDue() {
        return certificates.#unwritten.size > 0
      },
      save: (db) => certificates.#saveUnwritten(db),
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
   * Remembers the revocations of a certificate. They count from the call on, also when this rejects.
   * @param made who revoked it, and where that is written down
   * @throws Refusal `postern_store_unwritable`
   */
  async rememberRevoked(
    certificateStatus: CertificateStatus,
    made: { userId: number; journal: Journal },
  ): Promise<void> {
    const { fingerprint, revocations, armored } = certificateStatus
    if (!revocations || fingerprint === null) return
    const isKnown = this.#revoked.has(fingerprint)
    if (!isKnown && this.#revoked.size >= this.#maxRevoked) {
      throw new Refusal('postern_store_unwritable', 'no more revocations can be remembered')
    }
    const kept = isKnown || this.#revoked.size < this.#maxWhole ? armored : ''
    const hold = (one: { kept: string; known: string | null }): void => {
      this.#revoked.add(fingerprint)
      const known = this.#unwritten.get(fingerprint)?.known ?? one.known
      this.#unwritten.set(fingerprint, { ...made, kept: one.kept, known })
    }
    try {
      const known = await this.#knownOf(fingerprint)
      if (known !== armored && known !== '') hold({ kept, known })
    } catch (error) {
      hold({ kept: '', known: null })
      await this.#store.settle()
      throw error
    }
    if (this.#unwritten.has(fingerprint)) await this.#store.settle()
  }

  async #saveUnwritten(db: Transaction<Schema>): Promise<() => void> {
    const written = [...this.#unwritten]
    const announcements: (() => void)[] = []
    for (const [fingerprint, { kept, known, userId, journal }] of written) {
      const now = await readRevoked(db, fingerprint)
      // of two that were revoked in other ways at the same time, that they are is all that is kept
      const revoked_armored = now === known ? kept : ''
      await db
        .insertInto('certificates')
        .values({ fingerprint, owner: null, revoked_armored })
        .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet({ revoked_armored }))
        .execute()
      const change = { kind: 'key-revoked' as const, userId, detail: { fingerprint } }
      announcements.push(await journal.append(db, [change]))
    }
    return () => {
      for (const [fingerprint, one] of written) {
        if (this.#unwritten.get(fingerprint) === one) this.#unwritten.delete(fingerprint)
      }
      for (const announce of announcements) announce()
    }
  }

  /** The copy with revocations; empty where only that it is revoked is known, null for none. */
  async #knownOf(fingerprint: string | null): Promise<string | null> {
    if (fingerprint === null || !this.#revoked.has(fingerprint)) return null
    const unwritten = this.#unwritten.get(fingerprint)
    if (unwritten !== undefined) return unwritten.kept
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
