/** When what is asked about is what was seen, or may stand beside it. */
import { FIXED_LIMITS } from '../../api/limits.ts'
import type { SignatureRepeatRule, SeenRecord } from '../memory.ts'
import type { Thing } from './sighting.ts'

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
const BROUGHT_WITHIN_MS = FIXED_LIMITS.retentionMs + 86_400_000

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
