import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Engine, Judgement } from '../pgp/engine.ts'
import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'

/** Judgements kept, each with its armored text: some 1 to 3 KB. */
const KEPT = 20_000
/** How long a certificate that overran the deadline is not tried again. */
const DEADLINE_KEPT_MS = 300_000

/**
 * Certificates, judged once per digest of their exact bytes and merged with what is known: a
 * revocation once seen sticks, across restarts. Expiry is looked at on each use.
 */
export class Certificates {
  readonly #engine: Engine
  readonly #judged = new LRUCache<string, Promise<Judged>>({ max: KEPT })
  readonly #revoked = new Map<string, string>()

  private constructor(engine: Engine) {
    this.#engine = engine
  }

  static async load(engine: Engine, store: Store): Promise<Certificates> {
    const certificates = new Certificates(engine)
    const rows = await store.read((db) =>
      db
        .selectFrom('certificates')
        .select(['fingerprint', 'revoked_armored'])
        .where('revoked_armored', 'is not', null)
        .execute(),
    )
    for (const row of rows) certificates.#revoked.set(row.fingerprint, row.revoked_armored ?? '')
    return certificates
  }

  /**
   * What an armored certificate is now. `unusable` takes the time into account.
   * @throws Refusal `postern_store_unwritable` when a new revocation cannot be recorded
   */
  async judge(armored: string): Promise<Judgement> {
    const digest = createHash('sha256').update(armored).digest('base64')
    const nowMs = Date.now()
    const kept = this.#judged.get(digest)
    if (kept !== undefined) {
      const judged = await kept
      if (this.#isCurrent(judged, nowMs)) return judged.judgement
    }
    const fresh = this.#judge(armored)
    this.#judged.set(digest, fresh)
    try {
      return (await fresh).judgement
    } catch (error) {
      this.#judged.delete(digest)
      throw error
    }
  }

  /**
   * Remembers the revocations of a certificate whose owner was bound before.
   * @param made who revoked it, and where that is written down
   * @throws Refusal `postern_store_unwritable`
   */
  async rememberRevoked(
    judgement: Judgement,
    made: { userId: number; journal: Journal },
  ): Promise<void> {
    const { fingerprint, revocations, armored } = judgement
    if (!revocations || fingerprint === null) return
    if (this.#revoked.get(fingerprint) === armored) return
    const change = { kind: 'key-revoked' as const, userId: made.userId, detail: { fingerprint } }
    await made.journal.record([change], async (db) => {
      await db
        .updateTable('certificates')
        .set({ revoked_armored: armored })
        .where('fingerprint', '=', fingerprint)
        .execute()
    })
    this.#revoked.set(fingerprint, armored)
  }

  async #judge(armored: string): Promise<Judged> {
    const judgement = await this.#engine.judge(armored)
    const known =
      judgement.fingerprint === null ? undefined : this.#revoked.get(judgement.fingerprint)
    const judgedAtMs = Date.now()
    if (known === undefined) return { judgement, known, judgedAtMs }
    return { judgement: await this.#engine.judge(armored, known), known, judgedAtMs }
  }

  /** A judgement holds until a time that it names is reached, or a revocation becomes known. */
  #isCurrent({ judgement, known, judgedAtMs }: Judged, nowMs: number): boolean {
    const { fingerprint, unusable, notBeforeMs, expiresMs } = judgement
    if (fingerprint !== null && this.#revoked.get(fingerprint) !== known) return false
    if (unusable === 'deadline') return nowMs < judgedAtMs + DEADLINE_KEPT_MS
    if (unusable === 'not-yet-valid') return nowMs < notBeforeMs
    return unusable !== null || nowMs < expiresMs
  }
}

interface Judged {
  judgement: Judgement
  /** The revoked copy that it was merged with. */
  known: string | undefined
  judgedAtMs: number
}
