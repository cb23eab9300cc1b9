/** What the memory against replays is asked, and when that is what was seen, or may stand beside it. */
import type { SignatureRepeatRule, SeenRecord } from '../memory.ts'

/** A message or an attachment as what was opened claims to be. */
export interface Sighting {
  chatId: number
  /**
   * The update that brought it as its own Message; null for what another Message carries, for an
   * attachment, and for what we sealed.
   */
  updateId: number | null
  /** Null for a quotation that names no message, and for what we sealed, not numbered yet. */
  messageId: number | null
  /** Of an attachment, whichever message it came with; absent for a message. */
  mediaId?: string
  userId: number | null
  /** When the Message says that it was written, ms since the epoch; null for an attachment. */
  dateMs: number | null
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  /** Digest of the statement that was verified, hex; null when nothing was. */
  signatureDigest: string | null
}

/**
 * `again`: the same was seen before, and is asked for again or quoted. `replayed`: its data or a
 * signature of it was seen as something else. `confirmed`: its update is known and was confirmed.
 * `new`: none of these.
 */
export type Recognition = Rememberable | 'replayed' | 'confirmed'
export type Rememberable = 'new' | 'again'

/** Used within a batch's one transaction, in the order of its messages. */
export interface ReplayCheck {
  /** @param signatureDigests of all statements that it claims to carry, hex */
  recognize(sighting: Thing, signatureDigests: readonly string[]): Promise<Recognition>
  /** Remembers it as delivered. @param as the answer of `recognize` */
  remember(sighting: Sighting, as: Rememberable): Promise<void>
}

/** What is asked about: a signature belongs to it once it was verified. */
export type Thing = Omit<Sighting, 'signatureDigest'>

/** How long the service keeps an update that nobody confirms (spec, Limits, `retention`). */
export const RETENTION_MS = 72 * 3_600_000
/**
 * How often one person may sign the same words anew in one chat, and within which time: by the dates
 * of the Messages, and by when we saw them.
 */
export const REPEATS = 2
const REPEATS_WITHIN_MS = 60_000
/**
 * How long after it was seen as a quotation alone the update may come that brings a Message: as long
 * as it may be queued, and a day, since clocks are set.
 */
const BROUGHT_WITHIN_MS = RETENTION_MS + 86_400_000

/**
 * Under which rule a signature may be on other data than before: the same words, sent twice.
 * @param nowMs by our own clock
 */
export function repeatRule(
  { chatId, userId, mediaId, dateMs }: Thing,
  nowMs: number,
): SignatureRepeatRule {
  const isFile = mediaId !== undefined
  const isDated = !isFile && dateMs !== null
  return {
    chatId,
    userId,
    isFile,
    fewerThan: isFile || isDated ? REPEATS : 0,
    within: isDated ? { ms: REPEATS_WITHIN_MS, datedAtMs: dateMs, seenAtMs: nowMs } : null,
  }
}

/** Whether the rule lets a signature of the same place repeat. A store asks the same as it writes. */
export function mayRepeat(seen: SeenRecord, { fewerThan, within }: SignatureRepeatRule): boolean {
  if (seen.repeats >= fewerThan) return false
  if (within === null) return true
  const isNear = (oneMs: number, otherMs: number): boolean => Math.abs(oneMs - otherMs) <= within.ms
  if (seen.datedAtMs === null) return false
  return isNear(within.datedAtMs, seen.datedAtMs) && isNear(within.seenAtMs, seen.seenAtMs)
}

export function isSamePlace(seen: SeenRecord, { chatId, userId, mediaId }: Thing): boolean {
  const isSameKind = (seen.mediaId === null) === (mediaId === undefined)
  return isSameKind && seen.chatId === chatId && seen.userId === userId
}

/** Of data that was seen in the same place. */
export function isSameThing(
  seen: SeenRecord,
  { mediaId, messageId, updateId }: Thing,
  nowMs: number,
): boolean {
  if (mediaId !== undefined) return seen.mediaId === mediaId
  const isSameMessage = seen.messageId === null || seen.messageId === messageId
  // the update that brings a Message is queued before anything can quote it, and for so long alone
  const isTooLate = seen.seenAtMs < nowMs - BROUGHT_WITHIN_MS
  const isOtherUpdate = updateId !== null && seen.updateId !== updateId
  if (isOtherUpdate && (seen.updateId !== null || isTooLate)) return false
  return isSameMessage
}
