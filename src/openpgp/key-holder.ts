/** Secret keys outside of this process: the interface of an agent, and keys that are used through it. */
import type { NativePublicKey, RecipientKey, SigningKey } from './crypto/algorithm.ts'

/** The kinds of subkeys of a key of the bot's: Curve25519, and with `pqc` ML-KEM-768+X25519 too. */
export type OwnKeyAlgorithm = 'classic' | 'pqc'

/** A public key, primary or subkey, whose secret part a holder has. */
export interface HeldKey<K extends NativePublicKey = NativePublicKey> {
  /** 40 lower-case hexadecimal characters, of this key. */
  fingerprint: string
  key: K
}

/** A session key that a holder unwrapped. */
export interface HeldSessionKey {
  /** As openpgp.js names ciphers (`CIPHERS`); null where the container names it (RFC 9580, 5.1.2). */
  algorithm: string | null
  /** To be zeroed after use. */
  data: Uint8Array
}

/**
 * Has secret keys and uses them for us. An implementation:
 *
 * - answers many questions at once, in any order. A batch asks them together and waits for all.
 * - rejects with `KeyHolderUnavailableError` (errors.ts) when there is no answer: nobody listens, the
 *   connection ends, the deadline passes, the answer has another form, the rate is exceeded, the key
 *   is not there. It never makes up an answer: `unwrap` without a session key means that the packet
 *   does not open, and becomes a verdict on somebody's message.
 * - reconnects by itself, and needs no call for that.
 * - keeps no secret and no session key, and logs neither these nor digests.
 *
 * Callers verify signatures, and the container's integrity hash proves a session key. So a holder
 * that lies makes messages unreadable, and makes nobody believe anything.
 */
export interface KeyHolder extends AsyncDisposable {
  /**
   * Another object for each connection, of which the first signature of a message and a sample of
   * the others are verified. Without it, each signature is.
   */
  readonly connection?: object | null | undefined
  /**
   * Signs a digest as it is (RFC 9580, 5.2.4): Ed25519 over these bytes, hashed no further.
   * @returns the 64 bytes R and S
   * @throws KeyHolderUnavailableError
   */
  sign(asked: { by: HeldKey<SigningKey>; digest: Uint8Array }): Promise<Uint8Array>
  /**
   * Unwraps the session key in a recipient packet (RFC 9580, 5.1).
   * @param asked `packet` with its header, of any version and of a key or of nobody by name; `to`
   *   the key that it is to be opened with
   * @returns none where it does not open; several where the form does not show which one counts
   * @throws KeyHolderUnavailableError
   */
  unwrap(asked: { to: HeldKey<RecipientKey>; packet: Uint8Array }): Promise<HeldSessionKey[]>
  /**
   * Makes a key as `Engine.generate` does, which stays with the holder.
   * @param asked `certifiedBy`: fingerprint of a primary key that it has, which certifies the new one
   * @returns its armored certificate
   * @throws KeyHolderUnavailableError; OperatorError `refused` where keys are made elsewhere, or not
   *   of this algorithm
   */
  make(asked: {
    algorithm?: OwnKeyAlgorithm | undefined
    userId: string
    createdMs: number
    certifiedBy: string | null
  }): Promise<string>
  /**
   * Calls back with the state, now where it is known and within two seconds after each change, also
   * where nothing is asked.
   * @returns a function that ends the calls
   */
  onReachable(listener: (now: HolderState) => void): () => void
}

/** Whether a holder answers. */
export interface HolderState {
  isReachable: boolean
  /** For people, of one line; empty when it answers. */
  reason: string
}

/** The part of a key that threads get. */
export function withoutHolder<K extends { holder?: KeyHolder }>(key: K): Omit<K, 'holder'> {
  const { holder, ...rest } = key
  return holder === undefined ? key : rest
}

const HELD = '-----BEGIN PGP PUBLIC KEY BLOCK-----'

/** Whether `OwnKey.locked` is the certificate of a key that a holder has, and no secret. */
export const isHeld = (locked: string): boolean => locked.startsWith(HELD)
