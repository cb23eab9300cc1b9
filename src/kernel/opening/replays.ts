/** What was opened and judged, against the memory of what was seen before. */
import type { ReplayCheck, Sighting } from './seen-rules.ts'
import type { OpenedFile, OpenedText } from '../../openpgp/index.ts'
import type { Judged } from './signatures.ts'
import { type Reasoned, type VerifyPolicy, delivers } from './verdict.ts'

/** An opened message or file, with its own verdict. */
export interface JudgedSighting {
  place: Omit<Sighting, 'dataDigest' | 'signatureDigest'>
  opened: Pick<OpenedText | OpenedFile, 'dataDigest' | 'signatures'>
  judged: Judged
  isForOtherChat: boolean
}

/** What else counts, beside the memory. */
export interface ReplayRules {
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** The bot's own message, which the service brings as a new one. */
  isOwnWords?: boolean
  /** Called where the memory allows it. Gives what was learned since, or null. */
  objection?: () => Reasoned | null
}

/**
 * Asks the memory against replays, and records what is delivered.
 * @returns what replaces its own verdict; undefined: that stands
 */
export async function checkReplay(
  check: ReplayCheck,
  { place, opened, judged, isForOtherChat }: JudgedSighting,
  { verify, isOwnWords = false, objection = () => null }: ReplayRules,
): Promise<Reasoned | undefined> {
  const { dataDigest, signatures } = opened
  const sighting = { ...place, dataDigest, signatureDigest: judged.signatureDigest ?? null }
  const claims = signatures.map(({ digest }) => digest)
  const recognized = await check.recognize(sighting, claims)
  if (recognized === 'replayed') return { verdict: 'replayed' }
  if (isOwnWords) return { verdict: 'replayed', reason: 'own-words' }
  if (recognized === 'confirmed') return { verdict: 'replayed', reason: 'confirmed-before' }
  if (recognized === 'new' && isForOtherChat) {
    return { verdict: 'replayed', reason: 'other-audience' }
  }
  const objected = objection()
  if (objected !== null) return objected
  if (delivers(judged, verify)) await check.remember(sighting, recognized)
  return undefined
}
