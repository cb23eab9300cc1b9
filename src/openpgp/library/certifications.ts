/** Verifies statements of another key on the user ids of a certificate. */
import { hash } from 'node:crypto'
import { config, enums, type PublicKey, type SignaturePacket } from 'openpgp'
import { NEVER_MS, notationOf } from '../certifications.ts'
import type { Certifier, CertifierStatement } from '../certifier.ts'
import { readOne } from './certificate.ts'
import { shapeProblem } from './key-shape.ts'
import {
  nameOf,
  namedBy,
  ownOf,
  ownRevocations,
  ownRevocationsOf,
  timeOf,
  verified,
  type NamedUser,
} from './owner-statements.ts'

/**
 * Gives the statements of one certifier on a certificate; none where either cannot be read, or the
 * certifier has another fingerprint. Never throws because of their content.
 */
export async function certifications(
  armored: string,
  asked: Certifier,
  onlyRevocations = false,
): Promise<CertifierStatement[]> {
  if (shapeProblem(armored) !== null || shapeProblem(asked.armored) !== null) return []
  const [key, certifier] = [await readOne(armored), await readOne(asked.armored)]
  if (typeof key === 'string' || typeof certifier === 'string') return []
  if (certifier.getFingerprint() !== asked.fingerprint) return []
  const notation = notationOf(asked)
  const settings = { ...config, knownNotations: notation === null ? [] : [notation] }
  const period = await periodOf(certifier)
  const by = certifier.keyPacket
  const found: CertifierStatement[] = []
  for (const user of key.users) {
    const boundUntilMs = await boundUntil(key, user)
    const over = namedBy(user)
    const statement = {
      userId: user.userID?.userID ?? '',
      userIdDigest: hash('sha256', nameOf(user), 'hex'),
      isOfOwnUserId: await hasUserId(certifier, user),
    }
    const byCertifier = async (all: readonly SignaturePacket[], type: enums.signature) =>
      await verified(all, key.keyPacket, type, over, { settings, by })
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

/** When a certifier's certifications count; null where it is revoked, weak, or binds no user id. */
async function periodOf(key: PublicKey): Promise<{ fromMs: number; untilMs: number } | null> {
  if (isWeak(key) || (await ownRevocations(key, key)).length > 0) return null
  const end = await key.getExpirationTime()
  if (end === null) return null
  const untilMs = end instanceof Date ? end.getTime() : NEVER_MS
  return { fromMs: key.getCreationTime().getTime(), untilMs }
}

/** Until when the owner binds a user id to a key; null where they do not, or have revoked it since. */
async function boundUntil(key: PublicKey, user: NamedUser): Promise<number | null> {
  const own = await ownOf(key, user)
  const revoked = await ownRevocationsOf(key, user)
  const revokedMs = Math.max(...revoked.map(timeOf), -Infinity)
  const ends = own.filter((one) => timeOf(one) > revokedMs).map(endOf)
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Whether the profile refuses the signatures of a primary key. */
function isWeak({ keyPacket }: PublicKey): boolean {
  const { bits = Infinity, curve } = keyPacket.getAlgorithmInfo()
  const { rejectPublicKeyAlgorithms, rejectCurves, minRSABits } = config
  const isRejected = rejectPublicKeyAlgorithms.has(keyPacket.algorithm)
  const isOfCurve = [...rejectCurves].map(String).includes(curve ?? '')
  return isRejected || bits < minRSABits || isOfCurve
}

async function hasUserId(key: PublicKey, user: NamedUser): Promise<boolean> {
  const same = key.users.find((one) => nameOf(one) === nameOf(user))
  return same !== undefined && (await boundUntil(key, same)) !== null
}

function endOf(signature: SignaturePacket): number {
  const end = signature.getExpirationTime()
  return end instanceof Date ? end.getTime() : NEVER_MS
}

function notationsOf({ rawNotations }: SignaturePacket): [string, string][] {
  return rawNotations.map(({ name, value }) => [name, Buffer.from(value).toString()])
}
