import type { CertificateStatus, UnusableReason } from '../../openpgp/index.ts'

/** Why a person cannot be sealed to; beyond what the certificate itself says. */
export type Unusable = UnusableReason | 'fingerprint-mismatch' | 'not-remembered'

/** A person with the certificate that the service lists for them. */
export interface Person {
  userId: number
  /** Computed by us; null when nothing could be parsed. */
  fingerprint: string | null
  /** Null when the certificate can be sealed to now. */
  unusable: Unusable | null
  certificateStatus: CertificateStatus
}

/** Reasons that leave nothing to verify a signature with either. */
const WORTHLESS: ReadonlySet<Unusable> = new Set([
  'unparseable',
  'secret-key',
  'several-certificates',
  'version',
  'too-large',
  'deadline',
  'fingerprint-mismatch',
  'not-remembered',
])

/** The armored certificate that the person's signatures are verified against, or null. */
export function signingCertificate({ unusable, certificateStatus }: Person): string | null {
  return isWorthless(unusable) ? null : certificateStatus.armored
}

/** Whether not even a signature is verified against a certificate. */
export function isWorthless(unusable: Unusable | null): boolean {
  return unusable !== null && WORTHLESS.has(unusable)
}
