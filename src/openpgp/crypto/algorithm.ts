/**
 * A public-key algorithm is one object of one of the two interfaces here. `public-key.ts` lists
 * the objects; no other code of `openpgp/` depends on an algorithm's number.
 */
import type { KeyObject } from 'node:crypto'
import type { CipherId } from '../format/ciphers.ts'
import { COMPOSITE } from '../format/packets.ts'

/** A key's algorithm as openpgp.js describes it. */
export interface AlgorithmInfo {
  algorithm: string
  bits?: number
  curve?: string
}

/** Algorithms that are used natively, by number (RFC 9580, 9.1). */
export const ALGORITHM = {
  ecdh: 18,
  eddsaLegacy: 22,
  x25519: 25,
  ed25519: 27,
  mlKem768X25519: COMPOSITE,
} as const

export type RecipientAlgorithmId =
  typeof ALGORITHM.ecdh | typeof ALGORITHM.x25519 | typeof ALGORITHM.mlKem768X25519
export type SignatureAlgorithmId = typeof ALGORITHM.eddsaLegacy | typeof ALGORITHM.ed25519

interface PublicKeyOf<Id> {
  algorithm: Id
  createdS: number
  /** The key itself, `publicBytes` long. */
  point: Uint8Array
}

/** A public key that encrypts. */
export type RecipientKey = PublicKeyOf<RecipientAlgorithmId>

/** A public key that signs. */
export type SigningKey = PublicKeyOf<SignatureAlgorithmId>

export type NativePublicKey = RecipientKey | SigningKey

/** How keys of one algorithm are encoded in packets. */
interface KeyAlgorithm {
  /** As openpgp.js describes such a key. */
  readonly info: AlgorithmInfo
  /** Bytes of a public key. */
  readonly publicBytes: number
  /** The bytes before and after the public key in a key packet of version 4 (RFC 9580, 5.5.5). */
  readonly before: Buffer
  readonly after: Buffer
  /**
   * Reads the secret part of a key packet, unlocked and without its checksum, as a key of
   * node:crypto; null for another form.
   */
  readSecret(material: Buffer): KeyObject | null
  /** The public key of a secret that `readSecret` gave, `publicBytes` long. */
  publicOf(secret: KeyObject): Buffer
}

/** The recipient's key, as sealing to it and opening with it wants it. */
export interface RecipientPoint {
  algorithm: RecipientAlgorithmId
  /** 20 bytes. */
  fingerprint: Uint8Array
  point: Uint8Array
}

/** A key pair that is used for one recipient of one message. */
export interface Ephemeral {
  secret: KeyObject
  point: Buffer
}

/** The fields of a recipient packet after the number of its algorithm. */
export interface WrappedSessionKey {
  /** The sender's public point, and behind it the ciphertext of ML-KEM where there is one. */
  ephemeral: Buffer
  /** The cipher where it is not encrypted, as for X25519. */
  cipher: number | null
  wrapped: Buffer
}

/** A session key to wrap, with its form padded by `padSessionKey`. */
export interface PaddedSessionKey {
  cipher: CipherId
  data: Uint8Array
  padded: Uint8Array
}

/** A kind of key that messages are encrypted to. */
export interface RecipientAlgorithm extends KeyAlgorithm {
  readonly id: RecipientAlgorithmId
  /** For people. */
  readonly label: string
  /** Whether it is two algorithms in one, which openpgp.js does not have. */
  readonly isComposite: boolean
  /** Whether anything may be sealed to a key: its shared secrets would be secret. */
  isSound(point: Uint8Array): boolean
  /** Length in bytes of a wrapped session key in a recipient packet. */
  wrappedBytes(cipher: CipherId): number
  /** Reads a wrapped session key from a recipient packet; null for every other form. */
  readWrapped(bytes: Buffer): WrappedSessionKey | null
  /** A pair that was never used before and is not used again: most of the work of wrapping. */
  ephemeral(): Ephemeral
  /**
   * Wraps a session key, and writes it as `readWrapped` reads it.
   * @throws Error for a recipient whose key is not sound
   */
  wrap(
    sessionKey: PaddedSessionKey,
    ephemeral: Ephemeral,
    to: { recipient: RecipientPoint; target: Uint8Array; at: number },
  ): void
  /** The shared secret of our key and the sender's point: most of unwrapping. Null without one. */
  agree(wrapped: WrappedSessionKey, secret: KeyObject): Buffer | null
  /**
   * Unwraps a session key.
   * @param shared of `agree`, with the same key; it is zeroed
   * @returns the session key, to be zeroed after use; null when it does not open
   */
  unwrap(
    wrapped: WrappedSessionKey,
    own: RecipientPoint,
    shared: Buffer,
  ): { cipher: number; data: Buffer } | null
}

/** A signature with the key that is to have made it. */
export interface Statement {
  algorithm: SignatureAlgorithmId
  digest: Uint8Array
  /** Of the key. */
  point: Uint8Array
  /** As `readSignature` gives them. */
  numbers: Uint8Array
}

/** A kind of key that messages and certificates are signed with. */
export interface SignatureAlgorithm extends KeyAlgorithm {
  readonly id: SignatureAlgorithmId
  /** Reads a signature's numbers as encoded in its packet; null for every other form. */
  readSignature(bytes: Buffer): Buffer | null
  /** Undoes `readSignature`. */
  writeSignature(numbers: Buffer): Buffer
  /** Gives the numbers of a signature over a digest. */
  sign(secret: KeyObject, digest: Uint8Array): Buffer
  /** Whether a signature is the key's. */
  holds(statement: Statement): boolean
  /** The same, on libuv's pool. */
  holdsAside(statement: Statement): Promise<boolean>
}
