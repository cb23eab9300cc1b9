/** What the pin of a person becomes by listings, proofs and time, without the operator. */
import type { Clocks } from '../clocks.ts'
import type { Pin, TrustStanding, Vouched } from '../memory.ts'
import type { TrustChange } from './journal.ts'
import { pinAfter, type UnwrittenListing } from './pins.ts'

export interface FirstUseParts {
  /** How long a changed certificate waits, ms; null: for the operator. Which authorities count. */
  firstUse: { afterMs: number | null; authorities: readonly { id: string }[] }
  /** Times that no wrong clock makes too late, too early, or go back. */
  clocks: Pick<Clocks, 'earliestMs' | 'latestMs' | 'expiryNowMs'>
}

/**
 * The pin by which a person is judged: a certificate that an authority certifies as theirs counts as
 * verified where the operator has not decided.
 */
export function believedPin<P extends Pin | undefined>(pin: P, parts: FirstUseParts): P {
  const { standing, vouched } = pin ?? {}
  if (standing !== 'seen' || vouched === undefined || !holds(vouched, parts)) return pin
  return { ...pin, fingerprint: vouched.fingerprint, standing: 'verified' }
}

const holds = (proof: Vouched, parts: FirstUseParts): boolean =>
  parts.clocks.expiryNowMs() < proof.untilMs && isOfSettings(proof, parts)

const isOfSettings = ({ by }: Vouched, { firstUse }: FirstUseParts): boolean =>
  firstUse.authorities.some(({ id }) => id === by)

/**
 * The pin of a person after a listing, with its changes; null when the listing changes nothing.
 * @param o `mayTake` whether another certificate of somebody of this standing is believed by itself
 */
export function pinAfterListing(
  { userId, known, seen }: { userId: number; known: Pin | undefined; seen: UnwrittenListing },
  o: FirstUseParts & { mayTake: (standing: TrustStanding) => boolean },
): { pin: Pin; changes: TrustChange[] } | null {
  const [nowMs, latestMs] = [o.clocks.earliestMs(), o.clocks.latestMs()]
  const listed = pinAfter(userId, known, { ...seen, nowMs, latestMs }) ?? known
  if (listed === undefined) return null
  const vouched = vouchedAfter(known?.vouched, seen, o)
  const isProved = JSON.stringify(vouched) !== JSON.stringify(known?.vouched)
  const proved = isProved ? { ...listed, vouched } : listed
  const by = takenBy(known, proved, { ...o, ...seen })
  const taken = { fingerprint: proved.listed, sinceMs: nowMs, standing: 'seen' as const }
  const pin = by === null ? proved : { ...proved, ...taken }
  if (pin === known) return null
  const from = known === undefined ? seen.first : (known.listed ?? known.fingerprint)
  const to = seen.last
  const changes: TrustChange[] = []
  if (from !== null && from !== to) {
    const detail = { from, standing: believedPin(known ?? pin, o).standing }
    const isBelieved = believedPin(pin, o).fingerprint === to && { isBelieved: true as const }
    if (to === null) changes.push({ kind: 'key-withdrawn', userId, detail })
    else changes.push({ kind: 'key-changed', userId, detail: { ...detail, to, ...isBelieved } })
  }
  if (by !== null && to !== null) {
    changes.push({ kind: 'key-taken', userId, detail: { from: proved.fingerprint, to, by } })
  }
  if (isProved && vouched !== undefined && holds(vouched, o)) {
    const detail = { fingerprint: vouched.fingerprint, by: vouched.by.replace(/ .*/, '') }
    changes.push({ kind: 'authority-verified', userId, detail })
  }
  return { pin, changes }
}

/** How a changed certificate is believed without the operator; null where it is not. */
function takenBy(
  known: Pin | undefined,
  proved: Pin,
  o: Parameters<typeof pinAfterListing>[1] & UnwrittenListing,
): 'after' | 'continuity' | null {
  const { fingerprint, listed, listedAtMs, standing } = proved
  if (listed === null || listed === fingerprint || !o.mayTake(standing)) return null
  if (o.evidence?.withdrawnBy[0] !== undefined || believedPin(proved, o) !== proved) return null
  const { afterMs } = o.firstUse
  const isOver = (sinceMs: number | null | undefined): boolean =>
    afterMs !== null && o.clocks.earliestMs() >= (sinceMs ?? Infinity) + afterMs
  if (known?.listed === listed && isOver(listedAtMs)) return 'after'
  // a thief may have another one listed, or the old one again: then the next waits like any other
  const isUndisturbed = afterMs === null || isOver(known?.listedAtMs)
  // the proof was read before, and another may be believed meanwhile
  const isOfBelieved = fingerprint !== null && o.evidence?.follows === fingerprint
  return isUndisturbed && known?.listed === fingerprint && isOfBelieved ? 'continuity' : null
}

/**
 * The certificate by an authority: a proof holds until it ends or is revoked, also where a service
 * omits it. Also later a proof of another certificate counts only if it was made after every one
 * before: who lost a certificate got a newer one certified.
 */
function vouchedAfter(
  known: Vouched | undefined,
  { last, evidence }: UnwrittenListing,
  parts: FirstUseParts,
): Vouched | undefined {
  const proof = evidence?.vouched ?? undefined
  if (known === undefined || !isOfSettings(known, parts)) return proof ?? known
  const isWithdrawn = known.fingerprint === last && evidence?.withdrawnBy.includes(known.by)
  const kept = isWithdrawn === true ? { ...known, untilMs: 0 } : known
  const isOlder = proof === undefined || proof.madeMs < kept.madeMs
  if (isOlder && (proof?.fingerprint !== kept.fingerprint || holds(kept, parts))) return kept
  return { ...proof, madeMs: Math.max(proof.madeMs, kept.madeMs) }
}
