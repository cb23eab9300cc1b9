/**
 * The terms of a certificate's keys at a time (RFC 9580, 5.2.3.10), by the newest self-signature of each
 * part that counts, and by every revocation. A name decides nothing.
 */
import { config, enums, type Key, type PublicKey, type SignaturePacket, type Subkey } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { UnusableReason } from '../failure-reasons.ts'
import { COMPOSITE } from '../format/packets.ts'
import { isComposite } from './composite.ts'
import { statementsOf, type Stated, type Statements } from './owner-statements.ts'
import { endOf, timeOf, weaknessOf } from './signature.ts'

/** The owner's terms of one key. Times are ms since the epoch. */
export interface KeyTerms {
  part: PublicKey | Subkey
  /** Why no statement on it counts; null where one does. */
  problem: UnusableReason | null
  createdMs: number
  /** The creation of the key, or of the statement that counts, if that is later. */
  sinceMs: number
  mayEncrypt: boolean
  maySign: boolean
  /** Infinity for never. */
  endsMs: number
  /** From when on its signatures do not count: Infinity for never, -Infinity for from ever. */
  revokedFromMs: number
}

export interface OwnerTerms {
  primary: KeyTerms
  subkeys: KeyTerms[]
  /** By number, in the owner's order. */
  ciphers: readonly number[]
  statements: Statements
}

const MAY_SIGN = 0x02
const MAY_ENCRYPT = 0x0c
const { publicKey } = enums
/** Algorithms that encrypt (RFC 9580, 9.1). */
const ENCRYPTING: ReadonlySet<number> = new Set([
  publicKey.rsaEncryptSign,
  publicKey.rsaEncrypt,
  publicKey.elgamal,
  publicKey.ecdh,
  publicKey.x25519,
  publicKey.x448,
  COMPOSITE,
])
/** Reasons that leave earlier signatures valid (RFC 9580, 5.2.3.31). */
const SOFT = new Set<enums.reasonForRevocation | null>([
  enums.reasonForRevocation.keySuperseded,
  enums.reasonForRevocation.keyRetired,
])

export const canEncrypt = ({ keyPacket }: Key | Subkey): boolean =>
  ENCRYPTING.has(keyPacket.algorithm)

/** The terms at `nowMs`; statements count that are dated ahead as far as clocks may differ. */
export async function termsOf(key: PublicKey, nowMs: number): Promise<OwnerTerms> {
  const statements = await statementsOf(key)
  const direct = newest(statements.primary.own, nowMs)
  const named = newestNamed(statements, nowMs)
  const both = [...named, direct].filter((one) => one !== null)
  const preferring = both.find((one) => one.preferredSymmetricAlgorithms)
  const flagged = newest(
    both.filter(({ keyFlags }) => keyFlags !== null),
    nowMs,
  )
  const { users, consents } = statements
  const own = [statements.primary, ...users].flatMap((one) => one.own)
  return {
    primary: {
      ...periodOf({ ...statements.primary, own }, both, { nowMs, otherwise: 'no-user-id' }),
      // without a statement it encrypts if there is no other key for that
      mayEncrypt: canEncrypt(key) && has(flagged, MAY_ENCRYPT, !key.subkeys.some(canEncrypt)),
      maySign: has(flagged, MAY_SIGN, true),
    },
    subkeys: statements.subkeys.map((one) => subkeyTerms(one, consents, nowMs)),
    ciphers: preferring?.preferredSymmetricAlgorithms ?? [],
    statements,
  }
}

/** The self-signature of the primary user id, or the newest; of all user ids where all are revoked. */
function newestNamed({ users }: Statements, nowMs: number): SignaturePacket[] {
  const found = users.flatMap(({ own, revoked }) => {
    const self = newest(own, nowMs)
    const isRevoked = self !== null && revoked.some((by) => timeOf(by) >= timeOf(self))
    return self === null ? [] : [{ self, isRevoked }]
  })
  const standing = found.filter(({ isRevoked }) => !isRevoked).map(({ self }) => self)
  const marked = standing.filter(({ isPrimaryUserID }) => isPrimaryUserID === true)
  const self = newest(marked, nowMs) ?? newest(standing, nowMs)
  return self === null ? found.map((one) => one.self) : [self]
}

function subkeyTerms(
  stated: Stated<Subkey>,
  consents: Statements['consents'],
  nowMs: number,
): KeyTerms {
  const binding = newest(stated.own, nowMs)
  const counting = binding === null ? [] : [binding]
  return {
    ...periodOf(stated, counting, { nowMs, otherwise: 'no-encryption-subkey' }),
    mayEncrypt: canEncrypt(stated.part) && has(binding, MAY_ENCRYPT, binding === null),
    maySign: binding !== null && consents.has(binding) && has(binding, MAY_SIGN, false),
  }
}

/** From when until when a key holds by the statements that count. */
function periodOf<Part extends PublicKey | Subkey>(
  { part, own, revoked }: Stated<Part>,
  counting: readonly SignaturePacket[],
  { nowMs, otherwise }: { nowMs: number; otherwise: UnusableReason },
) {
  const createdMs = part.getCreationTime().getTime()
  return {
    part,
    problem: counting.length > 0 ? null : (whyNone(own, nowMs) ?? otherwise),
    createdMs,
    sinceMs: Math.max(createdMs, ...counting.map(timeOf)),
    endsMs: Math.min(...counting.map((one) => keyEndOf(one, createdMs)), Infinity),
    revokedFromMs: Math.min(
      ...revoked.map((one) => (isSoft(one) ? timeOf(one) : -Infinity)),
      Infinity,
    ),
  }
}

/** The newest signature that counts at a time; one dated ahead only where there is no other. */
export function newest(all: readonly SignaturePacket[], nowMs: number): SignaturePacket | null {
  const latestMs = nowMs + BOUNDS.clockToleranceMs
  const counting = all
    .filter((one) => weaknessOf(one) === null && timeOf(one) <= latestMs && endOf(one) > nowMs)
    .sort((a, b) => timeOf(b) - timeOf(a))
  return counting.find((one) => timeOf(one) <= nowMs) ?? counting[0] ?? null
}

/** Why none of these signatures counts; null where there is none. */
function whyNone(all: readonly SignaturePacket[], nowMs: number): UnusableReason | null {
  const sound = all.filter((one) => weaknessOf(one) === null)
  if (sound.some((one) => endOf(one) <= nowMs)) return 'expired'
  if (sound.length > 0) return 'not-yet-valid'
  return all.some((one) => weaknessOf(one) === 'weak-hash') ? 'weak-hash' : null
}

const has = (one: SignaturePacket | null | undefined, flags: number, unsaid: boolean): boolean =>
  one?.keyFlags == null ? unsaid : ((one.keyFlags[0] ?? 0) & flags) !== 0

/**
 * From when until when, around `nowMs`, the terms stay as they are: no key, and no statement on it, begins
 * or ends in between. In ms since the epoch; Infinity for ever.
 */
export function windowOf(
  { primary, subkeys, statements }: OwnerTerms,
  nowMs: number,
): { fromMs: number; untilMs: number } {
  const { users } = statements
  const ofPrimary = [statements.primary, ...users].map((all) => ({ all, terms: primary }))
  const ofSubkeys = statements.subkeys.map((all, at) => ({ all, terms: subkeys[at] ?? primary }))
  const times = [...ofPrimary, ...ofSubkeys].flatMap(({ all, terms: { createdMs } }) => [
    createdMs,
    ...all.revoked.map(timeOf),
    ...all.own.flatMap((one) => [timeOf(one), endOf(one), keyEndOf(one, createdMs)]),
  ])
  return {
    fromMs: Math.max(0, ...times.filter((time) => time <= nowMs)),
    untilMs: Math.min(...times.filter((time) => time > nowMs)),
  }
}

/** When a key ends by a self-signature, or that itself does. */
const keyEndOf = (one: SignaturePacket, createdMs: number): number =>
  Math.min(one.keyExpirationTime ? createdMs + one.keyExpirationTime * 1000 : Infinity, endOf(one))

/** Whether a revocation leaves earlier signatures valid. */
export const isSoft = (one: SignaturePacket): boolean => SOFT.has(one.reasonForRevocationFlag)

/** Whether the profile refuses a key for its algorithm. */
export function isWeakKey({ keyPacket }: Key | Subkey): boolean {
  const { bits = Infinity, curve } = keyPacket.getAlgorithmInfo()
  const { rejectPublicKeyAlgorithms, rejectCurves, minRSABits } = config
  const isOfCurve = [...rejectCurves].map(String).includes(curve ?? '')
  return rejectPublicKeyAlgorithms.has(keyPacket.algorithm) || bits < minRSABits || isOfCurve
}

/** Why a key cannot be used at a time; null where it can. */
export function unfitness(terms: KeyTerms, nowMs: number): UnusableReason | null {
  if (terms.revokedFromMs <= nowMs) return 'revoked'
  if (isWeakKey(terms.part)) return 'weak-algorithm'
  if (terms.problem !== null) return terms.problem
  if (terms.endsMs <= nowMs) return 'expired'
  return terms.createdMs > nowMs + BOUNDS.clockToleranceMs ? 'not-yet-valid' : null
}

/**
 * The key to seal to at a time: of ML-KEM before all others, then the newest subkey; the primary key
 * where no subkey encrypts, but never where the owner bound one in a way that is too weak.
 * @param isSound of a composite subkey; null where none is sealed to
 * @returns or why there is none
 */
export function encryptionKey(
  { primary, subkeys }: OwnerTerms,
  nowMs: number,
  isSound: ((subkey: Key | Subkey) => boolean | null) | null = null,
): KeyTerms | UnusableReason {
  // whose clock is ahead of ours has revoked the whole key all the same
  const problem = primary.revokedFromMs < Infinity ? 'revoked' : unfitness(primary, nowMs)
  if (problem !== null) return problem
  const rank = ({ part }: KeyTerms): number => Number(isComposite(part))
  const found = subkeys
    .filter(({ mayEncrypt }) => mayEncrypt)
    .filter(({ part, sinceMs }) => {
      const hasBegun = Math.max(primary.sinceMs, sinceMs) <= nowMs
      return !isComposite(part) || (hasBegun && isSound?.(part))
    })
    .sort((a, b) => rank(b) - rank(a) || b.createdMs - a.createdMs)
  const problems = found.map((one) => unfitness(one, nowMs))
  const usable = found[problems.indexOf(null)]
  if (usable !== undefined) return usable
  if (primary.mayEncrypt && !problems.includes('weak-hash')) return primary
  return problems.find((one) => one !== 'no-encryption-subkey') ?? 'no-encryption-subkey'
}
