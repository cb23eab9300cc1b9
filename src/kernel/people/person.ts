import type { CertificateStatus, UnusableReason } from '../../openpgp/index.ts'
import type { People } from './people.ts'
import type { Distrust, Trust } from './trust.ts'

/** Why nothing can be sealed to a person, beyond the state of the certificate itself. */
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
export const signingCertificate = ({ unusable, certificateStatus }: Person): string | null =>
  isWorthless(unusable) ? null : certificateStatus.armored

export const isWorthless = (unusable: Unusable | null): boolean =>
  unusable !== null && WORTHLESS.has(unusable)

/** Whether a person is listed with one of these keys, as their certificate or in it. */
export function listsKeyOf(
  { fingerprint, certificateStatus }: Person,
  own: ReadonlySet<string>,
): boolean {
  if (fingerprint === null) return false
  return own.has(fingerprint) || certificateStatus.encryptionKeys.some((key) => own.has(key))
}

/** A decision of the operator or of the policy against a certificate as a person's. */
export type DecisionAgainst = Distrust | 'other-person'

/** Whether a certificate may not be used as a person's in a chat: it is another's, or not trusted. */
export function decisionAgainst(
  { userId, fingerprint }: { userId: number; fingerprint: string | null },
  chatId: number,
  { people, trust }: { people: Pick<People, 'isOthers'>; trust: Pick<Trust, 'distrust'> },
): DecisionAgainst | null {
  const isOthers = fingerprint !== null && people.isOthers({ userId, fingerprint })
  return isOthers ? 'other-person' : trust.distrust(userId, fingerprint, chatId)
}
