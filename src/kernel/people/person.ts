import type { UserKey } from '../../api/user-key.ts'
import type { CertificateStatus, UnusableReason } from '../../openpgp/index.ts'
import type { Certificates } from './certificates.ts'
import type { Listing } from './certificate-owners.ts'
import type { Journal } from './journal.ts'
import type { Trust } from './trust.ts'

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

export interface PersonParts {
  certificates: Certificates
  trust: Trust
  journal: Journal
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
export function signingCertificate(person: Person): string | null {
  return person.unusable !== null && WORTHLESS.has(person.unusable)
    ? null
    : person.certificateStatus.armored
}

/**
 * Reads key records from `readUserKey`: computes each fingerprint, remembers who lists it and what
 * was revoked. A record whose fingerprint is not its certificate's is no claim.
 * @throws Refusal `postern_store_unwritable`
 */
export async function readPeople(records: UserKey[], parts: PersonParts): Promise<Person[]> {
  const judged = await Promise.all(
    records.map(async (key) => ({
      key,
      certificateStatus: await parts.certificates.judge(key.publicKey ?? ''),
    })),
  )
  await parts.trust.saw(
    judged.flatMap(({ key, certificateStatus }) => listingOf(key, certificateStatus) ?? []),
  )
  const own = judged.filter(({ key, certificateStatus }) => isUsable(key, certificateStatus, parts))
  await parts.certificates.keepCopies(own.map(({ certificateStatus }) => certificateStatus))
  for (const { key, certificateStatus } of judged) {
    const made = { userId: key.userId, journal: parts.journal }
    await parts.certificates.rememberRevoked(certificateStatus, made)
  }
  return judged.map(({ key, certificateStatus }) => ({
    userId: key.userId,
    fingerprint: certificateStatus.fingerprint,
    unusable: unusableFor(key, certificateStatus, parts.trust),
    certificateStatus,
  }))
}

const isUsable = (
  key: { userId: number; fingerprint: string | null },
  certificateStatus: CertificateStatus,
  { trust }: Pick<PersonParts, 'trust'>,
): boolean => !WORTHLESS.has(unusableFor(key, certificateStatus, trust) ?? 'expired')

function unusableFor(
  key: { userId: number; fingerprint: string | null },
  certificateStatus: CertificateStatus,
  trust: Trust,
): Unusable | null {
  const { fingerprint } = certificateStatus
  if (fingerprint === null) return certificateStatus.unusable ?? 'unparseable'
  if (isMismatch(key, fingerprint)) return 'fingerprint-mismatch'
  if (!trust.isRemembered(key.userId)) return 'not-remembered'
  return certificateStatus.unusable
}

/** What a record lists; null when it lists nothing usable, or was not judged in time. */
function listingOf(key: UserKey, { fingerprint, unusable }: CertificateStatus): Listing | null {
  if (fingerprint === null ? unusable === 'deadline' : isMismatch(key, fingerprint)) return null
  return { userId: key.userId, fingerprint }
}

function isMismatch(key: { fingerprint: string | null }, computed: string): boolean {
  return key.fingerprint !== null && key.fingerprint !== computed
}
