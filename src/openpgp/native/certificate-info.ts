/** What sealing and verifying need of a certificate, once it was judged. */
import { type RecipientKey, type SigningKey } from '../crypto/algorithm.ts'
import { recipientAlgorithm } from '../crypto/algorithms.ts'
import { fingerprintOf } from '../crypto/public-key.ts'
import type { CertificateStatus, UnusableReason } from '../engine.ts'
import { recipientBytes } from '../size.ts'

/** Stands for never, where times are seconds. */
export const NEVER_S = 0xffff_ffff

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

/** What is known of a certificate; `info` is null where it is the library's alone to use. */
export interface CheckedCertificate {
  status: CertificateStatus
  info: CertificateInfo | null
}

/** Whether it holds at a time, in ms. */
export function holdsAt(
  { fromS, untilS }: { fromS: number; untilS: number },
  atMs: number,
): boolean {
  const atS = Math.floor(atMs / 1000)
  return fromS <= atS && (atS < untilS || untilS === NEVER_S)
}

/** The status of a certificate that this is known of; it expires when that ends. */
export function statusOf(info: CertificateInfo, armored: string): CertificateStatus {
  const { fingerprint, recipientKey, fromS, untilS } = info
  const kind = recipientAlgorithm(recipientKey.algorithm)
  return {
    fingerprint: Buffer.from(fingerprint).toString('hex'),
    unusable: null,
    notBeforeMs: fromS * 1000,
    expiresMs: untilS === NEVER_S ? Infinity : untilS * 1000,
    revocations: false,
    encryptionKeys: [fingerprintOf(recipientKey).toString('hex')],
    recipientBytes: recipientBytes(kind.info),
    algorithm: kind.label,
    armored,
  }
}

/** The status of a certificate of which nothing is known but that it cannot be used. */
export function unusableStatus(armored: string, unusable: UnusableReason): CertificateStatus {
  return {
    fingerprint: null,
    unusable,
    notBeforeMs: 0,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: [],
    recipientBytes: { aes256: 0, aes128: 0 },
    algorithm: 'unknown',
    armored,
  }
}
