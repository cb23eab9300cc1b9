/** The work of a `KeyHolder`, with secrets of this process: what an agent does for others. */
import type { KeyObject } from 'node:crypto'
import type { RecipientKey } from './crypto/algorithm.ts'
import { isSigningKey, signatureAlgorithm } from './crypto/algorithms.ts'
import { ANONYMOUS, openRecipient, readRecipient } from './crypto/recipient.ts'
import type { UnlockedKey } from './engine.ts'
import { CIPHER_NAME, isCipher } from './format/ciphers.ts'
import { TAG, listPackets } from './format/packets.ts'
import type { HeldSessionKey } from './key-holder.ts'
import { Library } from './library/library.ts'
import { isRecipientSecret, readOwnSecrets, type OwnSecret } from './native/own-secrets.ts'

/** Signs and unwraps with the secrets of unlocked keys, by fingerprints of primary keys and subkeys. */
export class LocalKeys implements AsyncDisposable {
  readonly #secrets = new Map<string, { own: OwnSecret; key: UnlockedKey }>()
  /** For recipient packets of other forms; its thread starts with the first of them. */
  readonly #library = new Library({ threads: 1 }, {})

  /** Adds a key; one that native code does not read is left out. */
  add(key: UnlockedKey): void {
    for (const own of readOwnSecrets(key.bytes).values()) {
      this.#secrets.set(own.fingerprint.toString('hex'), { own, key })
    }
  }

  has(fingerprint: string): boolean {
    return this.#secrets.has(fingerprint)
  }

  /**
   * Signs a digest as it is.
   * @returns 64 bytes; null where no key of that fingerprint signs
   */
  sign(fingerprint: string, digest: Uint8Array): Buffer | null {
    const { own } = this.#secrets.get(fingerprint) ?? {}
    if (own === undefined || !isSigningKey(own.key)) return null
    return signatureAlgorithm(own.key.algorithm).sign(own.secret, digest)
  }

  /**
   * Unwraps the session key in one framed recipient packet.
   * @returns null where no key of that fingerprint decrypts, and for anything but one such packet
   * @throws EngineUnavailableError
   */
  unwrap(
    fingerprint: string,
    packet: Uint8Array,
  ): HeldSessionKey[] | Promise<HeldSessionKey[]> | null {
    const { own, key } = this.#secrets.get(fingerprint) ?? {}
    const [one, ...more] = listPackets(packet) ?? []
    if (!own || !key || !isRecipientSecret(own) || one?.tag !== TAG.pkesk || more.length > 0) {
      return null
    }
    return (
      unwrapNatively(one.body, own) ?? this.#library.unwrap({ recipientPackets: [packet] }, [key])
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#secrets.clear()
    await this.#library[Symbol.asyncDispose]()
  }
}

/** @returns null for a form that is the library's to read */
function unwrapNatively(
  body: Uint8Array,
  own: OwnSecret & { key: RecipientKey; secret: KeyObject },
): HeldSessionKey[] | null {
  const form = readRecipient(body)
  if (form === null) return null
  const isFor = [own.fingerprint.toString('hex', 12), ANONYMOUS].includes(form.keyId)
  if (!isFor || form.algorithm !== own.key.algorithm) return []
  const opened = openRecipient(form, own)
  if (opened === null) return []
  const { cipher, data } = opened
  return isCipher(cipher) ? [{ algorithm: CIPHER_NAME[cipher], data }] : null
}
