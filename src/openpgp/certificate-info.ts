/** What both engines know of a certificate that can be sealed to natively. */
import type { RecipientKey, SigningKey } from './crypto/algorithm.ts'

/**
 * A certificate that can be sealed to natively. All of it holds from `fromS` on and before
 * `untilS`: nothing in the certificate begins or ends in between.
 */
export interface CertificateInfo {
  /** Of the primary key, 20 bytes. */
  fingerprint: Uint8Array
  /** The key to seal to. */
  recipientKey: RecipientKey
  /** The key that signs messages; null where none can be verified natively. */
  signingKey: SigningKey | null
  /** The signing key is the primary key, and not a subkey. */
  primarySigns: boolean
  /** There is no key in the certificate but the primary key and these two. */
  hasNoOtherKey: boolean
  /** It lists AES-256 among the ciphers that it reads (RFC 9580, 12.1). */
  readsAes256: boolean
  fromS: number
  untilS: number
}

/** Of a key of the bot's own. */
export interface OwnKeyInfo {
  /** Key ids that messages may be opened with, at any time. */
  opens: string[]
  /** Of its certificate; null when it cannot sign and be sealed to natively now. */
  info: CertificateInfo | null
}
