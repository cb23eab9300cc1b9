/**
 * The work of a `KeyHolder`: with secrets of this process, as an agent does for others, and with a
 * device that computes shared secrets alone.
 */
import { createSecretKey } from 'node:crypto'
import type { RecipientKey } from './crypto/algorithm.ts'
import { isLowOrder } from './crypto/curve25519.ts'
import { isFor, openRecipient, readRecipient } from './crypto/recipient.ts'
import type { UnlockedKey } from './engine.ts'
import { CIPHER_NAME, isCipher } from './format/ciphers.ts'
import { TAG, listPackets } from './format/packets.ts'
import type { HeldKey, HeldSessionKey } from './key-holder.ts'
import { Library } from './library/library.ts'
import { isRecipientSecret, readOwnSecrets, type OwnSecret } from './native/own-secrets.ts'
import { isSigningKey, signatureAlgorithm } from './crypto/public-key.ts'

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

  /** Signs a digest as it is. @returns 64 bytes; null where no key of that fingerprint signs */
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
    const body = recipientIn(packet)
    if (!own || !key || !isRecipientSecret(own) || body === null) return null
    return unwrapNatively(body, own) ?? this.#library.unwrap({ recipientPackets: [packet] }, [key])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#secrets.clear()
    await this.#library[Symbol.asyncDispose]()
  }
}

/** @returns null for a form that is the library's to read */
function unwrapNatively(
  body: Uint8Array,
  own: OwnSecret & { key: RecipientKey },
): HeldSessionKey[] | null {
  const form = readRecipient(body)
  if (form === null) return null
  const opened = isFor(form, own) ? openRecipient(form, own) : null
  return opened === null ? [] : sessionKeysOf(opened)
}

/** @returns null for a cipher that is the library's to know */
const sessionKeysOf = ({ cipher, data }: { cipher: number; data: Buffer }) =>
  isCipher(cipher) ? [{ algorithm: CIPHER_NAME[cipher], data }] : null

/** The body of a framed recipient packet; null for anything but one. */
function recipientIn(framed: Uint8Array): Uint8Array | null {
  const [one, ...more] = listPackets(framed) ?? []
  return one?.tag === TAG.pkesk && more.length === 0 ? one.body : null
}

/** A recipient packet whose shared secret is to be computed, as gpg-agent and PKCS#11 do. */
export interface KeyAgreement {
  /** The sender's public point: 32 bytes, not of low order. */
  ephemeral: Buffer
  /** Unwraps the session key. @param shared the 32 bytes of X25519 (RFC 7748, 6.1); they are zeroed */
  open(shared: Buffer): HeldSessionKey[]
}

/**
 * Reads a framed recipient packet of version 3, for a key of ours or for nobody by name.
 * @returns null for every other packet, and for a point that has no secret in common with anybody:
 *   it does not open
 */
export function readAgreement(asked: {
  to: HeldKey<RecipientKey>
  packet: Uint8Array
}): KeyAgreement | null {
  const fingerprint = Buffer.from(asked.to.fingerprint, 'hex')
  const own = { key: asked.to.key, fingerprint, secret: NO_SECRET }
  const body = recipientIn(asked.packet)
  const form = body && readRecipient(body)
  if (form === null || !isFor(form, own) || isLowOrder(form.ephemeral)) return null
  return {
    ephemeral: form.ephemeral,
    open(shared) {
      const opened = openRecipient(form, own, shared)
      return (opened && sessionKeysOf(opened)) ?? []
    },
  }
}

/** With a shared secret at hand, ours is not used. */
const NO_SECRET = createSecretKey(Buffer.alloc(1))
