import { readUserKey } from '../api/user-key.ts'
import type { Judgement, UnusableReason } from '../pgp/engine.ts'
import type { Certificates } from './certificates.ts'
import type { People } from './people.ts'

/** Why a person cannot be sealed to; beyond what the certificate itself says. */
export type Unusable = UnusableReason | 'fingerprint-mismatch' | 'other-person'

/** A person with the certificate that the service lists for them. */
export interface Person {
  userId: number
  /** Computed by us; null when nothing could be parsed. */
  fingerprint: string | null
  /** Null when the certificate can be sealed to now. */
  unusable: Unusable | null
  judgement: Judgement
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
  'other-person',
])

/** The armored certificate that the person's signatures are verified against, or null. */
export function signingCertificate(person: Person): string | null {
  return person.unusable !== null && WORTHLESS.has(person.unusable)
    ? null
    : person.judgement.armored
}

/**
 * Reads key records of the service: computes each fingerprint, remembers whose it is and what was
 * revoked. Records without an id or without a certificate are left out.
 * @throws Refusal `postern_store_unwritable`
 */
export async function readPeople(
  records: unknown[],
  parts: { certificates: Certificates; people: People },
): Promise<Person[]> {
  const listed = records.map(readUserKey).filter((key) => key !== null)
  const judged = await Promise.all(
    listed.map(async (key) => ({ key, judgement: await parts.certificates.judge(key.publicKey) })),
  )
  await parts.people.bind(
    judged.flatMap(({ key, judgement: { fingerprint } }) =>
      fingerprint === null ? [] : [{ fingerprint, userId: key.userId }],
    ),
  )
  for (const { judgement } of judged) await parts.certificates.rememberRevoked(judgement)
  return judged.map(({ key, judgement }) => ({
    userId: key.userId,
    fingerprint: judgement.fingerprint,
    unusable: unusableFor(key, judgement, parts.people),
    judgement,
  }))
}

function unusableFor(
  key: { userId: number; fingerprint: string | null },
  judgement: Judgement,
  people: People,
): Unusable | null {
  const { fingerprint } = judgement
  if (fingerprint === null) return judgement.unusable ?? 'unparseable'
  if (key.fingerprint !== null && key.fingerprint !== fingerprint) return 'fingerprint-mismatch'
  if (people.ownerOf(fingerprint) !== key.userId) return 'other-person'
  return judgement.unusable
}
