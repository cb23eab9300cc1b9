/** The verdict of an attachment: whose file it is, in which chat, under which id. */
import type { OpenedFile } from '../../openpgp/index.ts'
import type { MediaPlace } from '../memory.ts'
import type { Freshness } from '../wall/freshness.ts'
import { judgeAudience } from './audience.ts'
import { isByStranger, OTHER_PERSON, type ExamineParts } from './examine.ts'
import type { NamedMedia, OpenedBefore } from './named-media.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { checkReplay } from './settle.ts'
import { judgeSignatures, whyNotAnyMore, type Claimed } from './signatures.ts'
import {
  delivers,
  type Reasoned,
  type TransientError,
  type Verdict,
  type VerifyPolicy,
} from './verdict.ts'

export interface FileParts extends ExamineParts {
  /** Brings what is remembered up to what any sidecar has seen (`Store.fresh`). */
  fresh: () => Promise<void>
  replayMemory: ReplayMemory
  named: NamedMedia
  /** Setting `open.verify`. */
  verify: VerifyPolicy
}

/** What a file is given with. */
export interface GivenVerdict {
  /** Null for what is given as it is stored. */
  verdict: Verdict | null
  /** Fingerprint of the certificate that verified it. */
  signer?: string | undefined
  /** When it was signed, ms since the epoch. */
  signedAtMs?: number | undefined
}

/** Why a file is not given; `passing` when asking again soon may help. */
export interface RefusedFile extends Reasoned {
  passing?: TransientError
}

export type FileDecision = { given: GivenVerdict & { verdict: Verdict } } | { refused: RefusedFile }

/** Why nothing of a place is given, whatever is stored there; null where something may be. */
export function whyNotFrom(place: MediaPlace, parts: FileParts): Reasoned | null {
  const { chatId, userId: fromId } = place
  return isByStranger({ chatId, fromId, pressedById: null }, parts) ? OTHER_PERSON : null
}

/**
 * Judges an opened attachment, and records one that is given.
 * @throws Refusal `postern_store_unwritable`
 */
export async function judgeFile(
  opened: OpenedFile,
  { place, signal, freshness }: { place: MediaPlace; signal: AbortSignal; freshness: Freshness },
  parts: FileParts,
): Promise<FileDecision> {
  const { named, verify, people } = parts
  const { dataDigest } = opened
  const { chatId, userId } = place
  await freshness.renew()
  const before = await named.openedBefore(place, dataDigest)
  if (before === 'other') return OTHER_DATA
  const receivedAtMs = parts.time.monotonicMs()
  const found = { chatId, fromId: userId, dateMs: null, receivedAtMs, signal }
  const claimed = { kind: 'file' as const, ...found, ...knownAs(before) }
  const bySignatures = await judgeSignatures(opened, claimed, parts)
  const { judged, isForOtherChat } = await judgeAudience(bySignatures, opened, found, parts)
  const unnumbered = { updateId: null, messageId: null, dateMs: null }
  const sighting = { place: { ...place, ...unnumbered }, opened, judged, isForOtherChat }
  await freshness.renew()
  const objection = (): Reasoned | null => learnedSince(judged, place, knownAs(before), parts)
  const settled = await parts.replayMemory.batch((check) =>
    checkReplay(check, sighting, { verify, objection }),
  )
  const final: RefusedFile = settled ?? judged
  if (!delivers(final, verify)) return { refused: final }
  const { verdict } = final
  if (verdict === 'verified' && userId !== null) await people.rememberSigned([userId], 'file')
  if (before === 'none') {
    const as = verdict === 'unsigned' ? ([verdict] as const) : ([] as const)
    if (!(await named.opened(place, dataDigest, ...as))) return OTHER_DATA
  }
  const { signer, signedAtMs } = judged
  return { given: { verdict, signer, signedAtMs } }
}

/**
 * Whether an attachment that was given before may still be given: nothing that was learned since
 * forbids it. One that may not must be fetched and judged anew.
 * @throws Refusal `postern_store_unwritable`
 */
export async function mayStillGive(
  given: GivenVerdict,
  place: MediaPlace,
  parts: FileParts,
): Promise<boolean> {
  await parts.fresh()
  if (given.verdict === null && parts.guard.mustSeal(place.chatId)) return false
  // what a revocation leaves of a signature depends on the reasons and dates of both
  if (given.signer !== undefined && parts.directory.isRevoked(given.signer)) return false
  return learnedSince(given, place, { wasUnsigned: true }, parts) === null
}

const OTHER_DATA = { refused: { verdict: 'replayed', reason: 'other-data-before' } } as const

/** What was judged once under an id keeps its verdict for the same bytes. */
const knownAs = (before: OpenedBefore): Pick<Claimed, 'isKnown' | 'wasUnsigned'> => ({
  isKnown: before === 'same' || before === 'unsigned',
  wasUnsigned: before === 'unsigned',
})

/** What was learned since a file was judged, and forbids it. */
function learnedSince(
  judged: GivenVerdict,
  place: MediaPlace,
  { wasUnsigned }: Pick<Claimed, 'wasUnsigned'>,
  parts: FileParts,
): Reasoned | null {
  const { chatId, userId: fromId } = place
  const claimed = { fromId, chatId, kind: 'file' as const, wasUnsigned }
  return whyNotFrom(place, parts) ?? whyNotAnyMore(judged, claimed, parts)
}
