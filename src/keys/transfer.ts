/** Secret keys on their way out, in, and from one protection to another. */
import { OperatorError } from '../errors.ts'
import type { Engine } from '../pgp/engine.ts'
import type { Relock } from '../store/move.ts'
import type { Store } from '../store/store.ts'
import { relockFor, type Keyring } from './keyring.ts'
import type { ReadyKey } from './own-key.ts'
import { unfitKey } from './unfit.ts'

export interface TransferParts {
  store: Store
  engine: Engine
  keyring: Keyring
}

/** Exports and imports secret keys. */
export class Transfer {
  readonly #parts: TransferParts

  constructor(parts: TransferParts) {
    this.#parts = parts
  }

  /**
   * Exports a secret key, armored and locked under a passphrase of its own, as gpg imports it.
   * @param fingerprint one of ours
   * @throws OperatorError `refused` when its secret is destroyed
   */
  async give(fingerprint: string, passphrase: string): Promise<string> {
    const { store, engine } = this.#parts
    const { locked, from } = await store.read(async (db) => {
      const row = await db
        .selectFrom('own_keys')
        .select('locked')
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirstOrThrow()
      return { locked: row.locked, from: store.masterSecret ?? '' }
    })
    if (locked !== '') return await engine.relock(locked, { from, to: passphrase })
    throw new OperatorError(
      'refused',
      'the secret of this key is destroyed',
      '`postern key list` shows which keys still open',
    )
  }

  /**
   * Makes a key from elsewhere the pending one; it is on disk when this resolves.
   * @param file armored or binary
   * @param passphrase null when it has none, or none was given
   * @throws OperatorError `refused`, `passphrase` with the reason; Refusal
   *   `postern_store_unwritable`
   */
  async take(
    file: Uint8Array,
    passphrase: string | null,
  ): Promise<{ key: ReadyKey; expiresMs: number }> {
    const { engine, keyring } = this.#parts
    let expiresMs = Infinity
    const key = await keyring.takePending(async ({ passphrase: to, certifiedBy }) => {
      const adopted = await engine.adopt(file, {
        from: passphrase,
        to,
        isRandom: true,
        certifiedBy,
      })
      if (adopted.outcome === 'unfit') throw unfitKey(adopted.reason)
      refuseKnown(keyring, adopted.key.fingerprint)
      expiresMs = adopted.expiresMs
      return adopted.key
    })
    return { key, expiresMs }
  }

  /** Locks keys anew for a store that is moved to another protection. */
  get relock(): Relock {
    return relockFor(this.#parts.engine)
  }
}

function refuseKnown(keyring: Keyring, fingerprint: string): void {
  const known = keyring.find(fingerprint)
  if (known === undefined) return
  throw new OperatorError(
    'refused',
    `${fingerprint} is ours already, and ${known.state}`,
    '`postern key list` shows our keys',
  )
}
