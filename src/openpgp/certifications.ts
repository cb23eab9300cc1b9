/** What other keys state of the user ids of a certificate (RFC 9580, 5.2.1.4 to 5.2.1.8). */
import { countedCache } from '../util/caches.ts'
import { BOUNDS } from './bounds.ts'
import { digestOf } from './certificate-statuses.ts'
import type { CertificationSubject, Certified, Certifier, CertifierStatement } from './certifier.ts'
import type { Engine } from './engine.ts'
import { dearmor } from './format/armor.ts'
import { TAG, listPackets } from './format/packets.ts'
import { issuerKeyIdsOf } from './format/signature-claim.ts'

/** Results kept; most certificates have no such statement, and are not counted. */
const KEPT = 20_000
/** The end of what never ends, as JSON can hold it. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER
/** RFC 9580, 5.2.1.14. */
const CERTIFICATION_REVOCATION = 0x30
const NONE: readonly CertifierStatement[] = []

/**
 * What each certifier states of a certificate at `nowMs`, in their order: nothing where the deadline
 * passed. Of more than `BOUNDS.certifications` of its signatures only revocations are read; more
 * revocations than that, which anybody can put there, count as one. Statements are read once for each
 * digest of the exact texts.
 * @param read in a thread, for a certificate that has signatures which name the certifier
 * @throws EngineUnavailableError
 */
export function certificationsBy(
  read: (
    armored: string,
    certifier: Certifier,
    onlyRevocations: boolean,
  ) => Promise<readonly CertifierStatement[]>,
): Engine['certifications'] {
  const cache = countedCache<string, Promise<readonly CertifierStatement[]>>(KEPT)
  const statements = async (armored: string, certifier: Certifier) => {
    const types = typesOfSignatures(armored, certifier.fingerprint.slice(-16))
    if (types.length === 0) return NONE
    const revocations = types.filter((type) => type === CERTIFICATION_REVOCATION)
    if (revocations.length > BOUNDS.certifications) return null
    const isMany = types.length > BOUNDS.certifications
    const name = [armored, certifier.armored, notationOf(certifier) ?? '']
      .map((text) => digestOf(text).toString('latin1'))
      .join('')
    const kept = cache.get(name) ?? read(armored, certifier, isMany)
    cache.set(name, kept)
    return await kept.catch((error: unknown) => {
      cache.delete(name)
      throw error
    })
  }
  return async (armored, certifiers, nowMs) =>
    await Promise.all(
      certifiers.map(async (certifier) => {
        const { known } = certifier
        const listed = await statements(armored, certifier)
        const kept = (known ? await statements(known, certifier) : null) ?? NONE
        if (listed === null) return { period: null, isWithdrawn: true, remember: null }
        return resultOf(certifier, { armored, listed, kept, nowMs })
      }),
    )
}

/** The types of the signatures of a certificate that name a key id as their maker's. */
function typesOfSignatures(armored: string, keyId: string): (number | undefined)[] {
  if (armored.length > BOUNDS.certificateChars) return []
  const bytes = dearmor(armored, 'PUBLIC KEY BLOCK')
  const packets = (bytes && listPackets(bytes, BOUNDS.certificatePackets)) ?? []
  return packets
    .filter(({ tag, body }) => tag === TAG.signature && issuerKeyIdsOf(body).includes(keyId))
    .map(({ body }) => body[1])
}

/** The notation that a certifier may mark as critical (RFC 9580, 5.2.3.24). */
export const notationOf = ({ subject }: Certifier): string | null =>
  typeof subject === 'object' && 'notation' in subject ? subject.notation : null

/**
 * Where only the fact of revocations is known, or the copy cannot be read any more, nothing holds. Of
 * the certifications of a user id only the newest may hold, also when it has ended or names another.
 */
function resultOf(
  { subject, known }: Certifier,
  o: { armored: string; nowMs: number } & Record<'listed' | 'kept', readonly CertifierStatement[]>,
): Certified {
  const revocationsIn = (all: readonly CertifierStatement[]) =>
    all.filter((one) => one.isRevocation)
  const [listed, kept] = [revocationsIn(o.listed), revocationsIn(o.kept)]
  const isVoid = known !== null && kept.length === 0
  const revocations = [...kept, ...listed]
  const made = o.listed.filter(
    (one) => !one.isRevocation && one.createdMs <= o.nowMs + BOUNDS.clockToleranceMs,
  )
  const certifying = made.filter((one) => isOf(subject, one))
  const newerThan = (one: CertifierStatement) =>
    made.filter((other) => isOver(other, one) && other.createdMs > one.createdMs)
  const holding = certifying.filter(
    (one) =>
      !isVoid &&
      o.nowMs < one.expiresMs &&
      newerThan(one).length === 0 &&
      !revocations.some((other) => isOver(other, one) && other.createdMs >= one.createdMs),
  )
  const madeMs = Math.max(...holding.map(({ createdMs }) => createdMs))
  const untilMs = Math.max(...holding.map(({ expiresMs }) => expiresMs))
  // of two copies with different revocations, only the fact is kept
  const copy = lacks(listed, kept) ? '' : o.armored
  const isReplaced = certifying.some((one) => !newerThan(one).every((it) => isOf(subject, it)))
  return {
    period: holding.length === 0 ? null : { madeMs, untilMs },
    isWithdrawn: isVoid || revocations.length > 0 || (isReplaced && holding.length === 0),
    remember: !isVoid && lacks(kept, listed) ? copy : null,
  }
}

function isOf(subject: CertificationSubject, one: CertifierStatement): boolean {
  // of its own user id: who certifies somebody else names no successor
  if (subject === 'own-user-id') return one.isOfOwnUserId
  if ('notation' in subject) {
    return one.notations.some(([name, text]) => name === subject.notation && text === subject.value)
  }
  const address = /^[^<>@]*<([^<>]*)>$/.exec(one.userId)?.[1] ?? one.userId
  return address === subject.userId
}

const isOver = (one: CertifierStatement, other: CertifierStatement): boolean =>
  one.userIdDigest === other.userIdDigest

const lacks = (these: CertifierStatement[], others: CertifierStatement[]): boolean =>
  others.some((other) => {
    return !these.some((one) => isOver(one, other) && one.createdMs === other.createdMs)
  })
