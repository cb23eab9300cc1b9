/** The verdict of an attachment. All calls throw Refusal `postern_store_unwritable`. */
import type { OpenedFile } from '../../openpgp/index.ts'
import type { MediaPlace } from '../memory.ts'
import type { Freshness } from '../wall/grounds.ts'
import type { Certificates } from '../people/certificates.ts'
import { judgeAudience, type AudienceParts } from './audience.ts'
import { isProtectedIn, type ModeParts } from './examine.ts'
import type { NamedMedia } from './named-media.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { mayStand } from './sender-rules.ts'
import { checkReplay } from './settle.ts'
import { judgeSignatures, type SignatureParts } from './signatures.ts'
import { delivers, type Reasoned, type Verdict, type VerifyPolicy } from './verdict.ts'

export interface FileParts extends SignatureParts, AudienceParts, ModeParts {
  certificates: Pick<Certificates, 'copyOf' | 'isRevoked'>
  /** Updates the memory with the changes of all sidecars (`Store.fresh`). */
  fresh: () => Promise<void>
  replayMemory: ReplayMemory
  named: NamedMedia
  /** Setting `open.verify`. */
  verify: VerifyPolicy
}

/** The verdict that a file is given with. */
export interface GivenVerdict {
  /** Null for a file that is given as it is stored. */
  verdict: Verdict | null
  /** Fingerprint of the certificate that verified it. */
  signer?: string | undefined
  /** When it was signed, ms since the epoch. */
  signedAtMs?: number | undefined
}

export type FileDecision = { given: GivenVerdict } | { refused: Reasoned }

const OTHER_DATA = { refused: { verdict: 'replayed', reason: 'other-data-before' } } as const

type StoredParts = ModeParts & Pick<FileParts, 'verify'>

/** Judges an unsealed file, which anybody could have replaced: in a readable chat it is given. */
export const judgeStored = async (
  { chatId }: Pick<MediaPlace, 'chatId'>,
  parts: StoredParts,
): Promise<FileDecision> => storedIn(await isProtectedIn([chatId], 0, parts), parts)

/** The same once its bytes are here: the chat may have been seen protected since. */
export const judgeFetched = (
  given: GivenVerdict,
  { chatId }: Pick<MediaPlace, 'chatId'>,
  parts: StoredParts,
): FileDecision =>
  given.verdict === null ? storedIn(parts.guard.mustSeal(chatId), parts) : { given }

function storedIn(isProtected: boolean, { verify }: Pick<FileParts, 'verify'>): FileDecision {
  if (!isProtected) return { given: { verdict: null } }
  const verdict = 'plaintext-in-protected'
  return delivers({ verdict }, verify) ? { given: { verdict } } : { refused: { verdict } }
}

/** Judges an opened attachment, and records one that is given. */
export async function judgeFile(
  opened: OpenedFile,
  { place, signal, freshness }: { place: MediaPlace; signal: AbortSignal; freshness: Freshness },
  parts: FileParts,
): Promise<FileDecision> {
  const { named, verify, people } = parts
  const { dataDigest } = opened
  const { chatId, userId: fromId } = place
  await freshness.renew()
  const before = await named.openedBefore(place, dataDigest)
  if (before === 'other') return OTHER_DATA
  // the same data under the same id keeps its verdict
  const sender = { kind: 'file' as const, chatId, fromId, wasUnsigned: before === 'unsigned' }
  const receivedAtMs = parts.time.monotonicMs()
  const claimed = { ...sender, isKnown: before !== 'none', dateMs: null, receivedAtMs, signal }
  const bySignatures = await judgeSignatures(opened, claimed, parts)
  const { judged, isForOtherChat } = await judgeAudience(bySignatures, opened, claimed, parts)
  const unnumbered = { updateId: null, messageId: null, dateMs: null }
  const sighting = { place: { ...place, ...unnumbered }, opened, judged, isForOtherChat }
  await freshness.renew()
  const stands = () => mayStand(judged, sender, parts)
  const settled = await parts.replayMemory.batch((check) =>
    checkReplay(check, sighting, { verify, stands }),
  )
  const final = settled ?? judged
  if (!delivers(final, verify)) return { refused: final }
  const { verdict } = final
  if (verdict === 'verified' && fromId !== null) await people.rememberSigned([fromId], 'file')
  if (before === 'none') {
    const as = verdict === 'unsigned' ? verdict : undefined
    if (!(await named.opened(place, dataDigest, as))) return OTHER_DATA
  }
  const { signer, signedAtMs } = judged
  return { given: { verdict, signer, signedAtMs } }
}

/**
 * Whether an attachment that was given before may still be given: nothing that was learned since
 * forbids it. One that may not must be fetched and judged anew.
 */
export async function mayStillGive(
  given: GivenVerdict,
  { chatId, userId: fromId }: MediaPlace,
  parts: FileParts,
): Promise<boolean> {
  await parts.fresh()
  if (given.verdict === null && parts.guard.mustSeal(chatId)) return false
  // what a revocation leaves of a signature depends on the reasons and dates of both
  if (given.signer !== undefined && parts.certificates.isRevoked(given.signer)) return false
  const sender = { kind: 'file' as const, chatId, fromId, wasUnsigned: true }
  return mayStand(given, sender, parts).allowed
}
