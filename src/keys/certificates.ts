import type { Engine, CertificateStatus } from '../pgp/engine.ts'
import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'

/**
 * Certificates, judged by the engine, which remembers them, and merged with what is known: a
 * revocation once seen sticks, across restarts.
 */
export class Certificates {
  readonly #engine: Engine
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
   * @throws Error when the engine is gone
   */
  async judge(armored: string): Promise<CertificateStatus> {
    const judgement = await this.#engine.judge(armored)
    const { fingerprint } = judgement
    const known = fingerprint === null ? undefined : this.#revoked.get(fingerprint)
    return known === undefined ? judgement : await this.#engine.judge(armored, known)
  }

  /**
   * Remembers the revocations of a certificate whose owner was bound before.
   * @param made who revoked it, and where that is written down
   * @throws Refusal `postern_store_unwritable`
   */
  async rememberRevoked(
    judgement: CertificateStatus,
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
}
