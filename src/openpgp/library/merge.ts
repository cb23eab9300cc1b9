/**
 * Merges a remembered copy of a certificate into a published one, so that an older copy undoes no
 * statement of the owner. The newest self-signatures and the revocations of each part are kept
 * (RFC 9580, 5.2.3.10): a certificate does not grow by being published anew.
 */
import { PublicKey, type SignaturePacket, type Subkey } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import { isComposite } from './composite.ts'
import type { WholePublicKey } from './key-cache.ts'
import { nameOf, partsOf, statementsOf, type Stated, type Statements } from './owner-statements.ts'
import { isSoft, newest } from './owner-terms.ts'
import { timeOf, weaknessOf } from './signature.ts'

interface Merged {
  key: PublicKey
  /** It has a statement of the owner's that the published copy lacks. */
  isCarried: boolean
  /** It has one that the remembered copy lacks. */
  isNews: boolean
  /** Fingerprints of the composite subkeys that the published copy lacks. */
  stripped: readonly string[]
}

/** Merges two copies of one certificate; neither is changed. */
export async function merge(
  published: PublicKey,
  remembered: PublicKey,
  nowMs: number,
): Promise<Merged> {
  const [there, before] = [await statementsOf(published), await statementsOf(remembered)]
  const newestMs = Math.max(...ownIn(there).map(timeOf), 0)
  const isNewer = ({ own }: { own: SignaturePacket[] }): boolean =>
    own.some((one) => counts(one) && timeOf(one) > newestMs)
  const kept: SignaturePacket[] = []
  const keep = (all: (Stated<unknown> | undefined)[]) => {
    const own = newestOf(
      all.flatMap((one) => one?.own ?? []),
      nowMs,
    )
    const revoked = strictest(all.flatMap((one) => one?.revoked ?? []))
    kept.push(...own, ...revoked)
    return { own, revoked }
  }
  const whole = keep([there.primary, before.primary])
  const users = united(there.users, before.users, { name: nameOf, mustStay: isNewer })
  // without a composite subkey words are weaker sealed: its owner revokes it, and nobody else omits it
  const mustStay = (one: Stated<Subkey>): boolean =>
    isNewer(one) || one.revoked.length > 0 || (isComposite(one.part) && one.own.some(counts))
  const subkeys = united(there.subkeys, before.subkeys, { name: fingerprintOf, mustStay })
  const key = new PublicKey(published.toPacketList()) as WholePublicKey
  Object.assign(key, {
    directSignatures: whole.own,
    revocationSignatures: whole.revoked,
    users: users.map(({ part, copies, isListed }) => {
      const { own: selfCertifications, revoked: revocationSignatures } = keep(copies)
      const stated = { selfCertifications, revocationSignatures }
      return copyOf(part, isListed ? stated : { ...stated, otherCertifications: [] })
    }),
    subkeys: subkeys.map(({ part, copies }) => {
      const { own: bindingSignatures, revoked: revocationSignatures } = keep(copies)
      return copyOf(part, { bindingSignatures, revocationSignatures })
    }),
  })
  const lacks = (copy: Statements): boolean => {
    const known = new Set(partsOf(copy).flatMap(statedIn).map(base64Of))
    return kept.some((one) => !known.has(base64Of(one)))
  }
  const listed = new Set(published.subkeys.map((one) => one.getFingerprint()))
  const composites = key.subkeys.filter(isComposite).map((one) => one.getFingerprint())
  return {
    key,
    isCarried: lacks(there),
    isNews: lacks(before),
    stripped: composites.filter((one) => !listed.has(one)),
  }
}

const fingerprintOf = (one: Subkey): string => one.getFingerprint()
const counts = (one: SignaturePacket): boolean => weaknessOf(one) === null

/** The parts of both copies, each once; of those that the remembered copy alone has, those that must stay. */
function united<Part>(
  there: readonly Stated<Part>[],
  before: readonly Stated<Part>[],
  o: { name: (part: Part) => string; mustStay: (one: Stated<Part>) => boolean },
): { part: Part; copies: (Stated<Part> | undefined)[]; isListed: boolean }[] {
  const remembered = new Map(before.map((one) => [o.name(one.part), one]))
  const listed = there.map((one) => {
    const same = remembered.get(o.name(one.part))
    remembered.delete(o.name(one.part))
    return { part: one.part, copies: [one, same], isListed: true }
  })
  const missing = [...remembered.values()].filter(o.mustStay).slice(-BOUNDS.carriedParts)
  return [...listed, ...missing.map((one) => ({ part: one.part, copies: [one], isListed: false }))]
}

const copyOf = <T extends object>(part: T, over: object): T =>
  Object.assign(Object.create(Object.getPrototypeOf(part) as object) as T, part, over)

/** The newest that counts now, and the newest of all, which may be dated ahead. */
function newestOf(all: readonly SignaturePacket[], nowMs: number): SignaturePacket[] {
  const [latest] = all.filter(counts).sort((a, b) => timeOf(b) - timeOf(a))
  return distinct([newest(all, nowMs), latest])
}

/** What decides from when on something is revoked: for good, at the earliest, and at last. */
function strictest(all: readonly SignaturePacket[]): SignaturePacket[] {
  const byTime = all.toSorted((a, b) => timeOf(a) - timeOf(b))
  return distinct([byTime.find((one) => !isSoft(one)), byTime[0], byTime.at(-1)])
}

function distinct(all: (SignaturePacket | null | undefined)[]): SignaturePacket[] {
  const present = all.filter((one) => one !== null && one !== undefined)
  return [...new Map(present.map((one) => [base64Of(one), one])).values()]
}

const base64Of = (one: SignaturePacket): string => Buffer.from(one.write()).toString('base64')

const ownIn = (all: Statements): SignaturePacket[] =>
  partsOf(all).flatMap(({ own }) => own.filter(counts))
const statedIn = ({ own, revoked }: Stated<unknown>): SignaturePacket[] => [...own, ...revoked]
