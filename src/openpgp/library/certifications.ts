/** Verifies statements of another key on the user ids of a certificate. */
import { hash } from 'node:crypto'
import { enums, type PublicKey, type SignaturePacket } from 'openpgp'
import { NEVER_MS, notationOf } from '../certifications.ts'
import type { Certifier, CertifierStatement } from '../certifier.ts'
import { readOne } from './certificate.ts'
import { madeOver, nameOf, namedBy, statementsOf } from './owner-statements.ts'
import type { NamedUser, Stated } from './owner-statements.ts'
import { isWeakKey, termsOf } from './owner-terms.ts'
import { endOf, timeOf, weaknessOf } from './signature.ts'

/**
 * Gives the statements of one certifier on a certificate; none where either cannot be read, or the
 * certifier has another fingerprint. Never throws because of their content.
 */
export async function certifications(
  armored: string,
  asked: Certifier,
  onlyRevocations = false,
): Promise<CertifierStatement[]> {
  const [key, certifier] = [await readOne(armored), await readOne(asked.armored)]
  if (typeof key === 'string' || typeof certifier === 'string') return []
  if (certifier.getFingerprint() !== asked.fingerprint) return []
  const notation = notationOf(asked)
  const known = notation === null ? [] : [notation]
  const period = await periodOf(certifier)
  const { users: ownUsers } = await statementsOf(certifier)
  const found: CertifierStatement[] = []
  for (const stated of (await statementsOf(key)).users) {
    const { part: user } = stated
    const boundUntilMs = boundUntil(stated)
    const statement = {
      userId: user.userID?.userID ?? '',
      userIdDigest: hash('sha256', nameOf(user), 'hex'),
      isOfOwnUserId: ownUsers.some(
        (one) => nameOf(one.part) === nameOf(user) && boundUntil(one) !== null,
      ),
    }
    const byCertifier = async (all: readonly SignaturePacket[], type: enums.signature) => {
      const data = { ...namedBy(user), key: key.keyPacket }
      const made = await madeOver(all, certifier.keyPacket, { type, data })
      return made.filter((one) => weaknessOf(one, known) === null)
    }
    const revoked = await byCertifier(user.revocationSignatures, enums.signature.certRevocation)
    for (const one of revoked) {
      const createdMs = timeOf(one)
      const revocation = { isRevocation: true, createdMs, expiresMs: NEVER_MS, notations: [] }
      found.push({ ...statement, ...revocation })
    }
    if (onlyRevocations || user.userID === null || boundUntilMs === null) continue
    for (const one of await byCertifier(user.otherCertifications, enums.signature.certGeneric)) {
      const createdMs = timeOf(one)
      if (period === null || createdMs < period.fromMs || createdMs >= period.untilMs) continue
      const expiresMs = Math.min(endOf(one), period.untilMs, boundUntilMs)
      const notations = notationsOf(one)
      found.push({ ...statement, isRevocation: false, createdMs, expiresMs, notations })
    }
  }
  return found
}

/** When a certifier's certifications count; null where it is revoked, weak, or states nothing of itself. */
async function periodOf(key: PublicKey): Promise<{ fromMs: number; untilMs: number } | null> {
  const { primary } = await termsOf(key, Date.now())
  const isOut = isWeakKey(key) || primary.revokedFromMs < Infinity || primary.problem !== null
  return isOut ? null : { fromMs: primary.createdMs, untilMs: jsonMs(primary.endsMs) }
}

/** Until when the owner binds a user id to a key; null where they do not, or have revoked it since. */
function boundUntil({ own, revoked }: Stated<NamedUser>): number | null {
  const revokedMs = Math.max(...revoked.map(timeOf), -Infinity)
  const counting = own.filter((one) => weaknessOf(one) === null && timeOf(one) > revokedMs)
  return counting.length === 0 ? null : Math.max(...counting.map((one) => jsonMs(endOf(one))))
}

/** As JSON can hold it. */
const jsonMs = (ms: number): number => Math.min(ms, NEVER_MS)

const notationsOf = ({ rawNotations }: SignaturePacket): [string, string][] =>
  rawNotations.map(({ name, value }) => [name, Buffer.from(value).toString()])
