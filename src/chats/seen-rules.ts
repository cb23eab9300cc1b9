/** When what is asked about is what was seen, or may stand beside it: in memory, and as SQL. */
import type { ExpressionBuilder } from 'kysely'
import { FIXED_LIMITS } from '../api/limits.ts'
import type { Schema, SeenTable } from '../store/schema.ts'
import type { Sighting, Thing } from './sighting.ts'

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

type SeenRow = Pick<
  SeenTable,
  'chat_id' | 'message_id' | 'update_id' | 'media_id' | 'user_id' | 'dated_at' | 'seen_at'
> & { repeats: number }

type SeenExpression = ExpressionBuilder<Schema, 'seen'>

export const oneRepeatMore = (row: SeenExpression) => ({ repeats: row('seen.repeats', '+', 1) })

/** The rules of `isSamePlace` and `mayRepeat` for a signature, as the database applies them. */
export function mayStillRepeat(row: SeenExpression, sighting: Sighting) {
  const { chatId, userId, dateMs, mediaId } = sighting
  const isFile = mediaId !== undefined
  const within = (column: 'seen.dated_at' | 'seen.seen_at', ms: number) => [
    row(column, '>=', ms - REPEATS_WITHIN_MS),
    row(column, '<=', ms + REPEATS_WITHIN_MS),
  ]
  const times =
    isFile || dateMs === null
      ? []
      : [...within('seen.dated_at', dateMs), ...within('seen.seen_at', Date.now())]
  return row.and([
    row('seen.kind', '=', 'signature'),
    row('seen.repeats', '<', isFile || dateMs !== null ? REPEATS : 0),
    row('seen.chat_id', '=', chatId),
    userId === null ? row('seen.user_id', 'is', null) : row('seen.user_id', '=', userId),
    row('seen.media_id', isFile ? 'is not' : 'is', null),
    ...times,
  ])
}

export function isSamePlace(row: SeenRow, { chatId, userId, mediaId }: Thing): boolean {
  const isSameKind = (row.media_id === null) === (mediaId === undefined)
  return isSameKind && row.chat_id === chatId && row.user_id === userId
}

/** Of data that was seen in the same place. */
export function isSameThing(
  row: SeenRow,
  { mediaId, messageId, updateId }: Thing,
  nowMs: number,
): boolean {
  if (mediaId !== undefined) return row.media_id === mediaId
  const isSameMessage = row.message_id === null || row.message_id === messageId
  // the update that brings a Message is queued before anything can quote it, and for so long alone
  const isTooLate = row.seen_at < nowMs - BROUGHT_WITHIN_MS
  const isOtherUpdate = updateId !== null && row.update_id !== updateId
  if (isOtherUpdate && (row.update_id !== null || isTooLate)) return false
  return isSameMessage
}

/** Whether a signature may be on other data than before: the same words, sent twice. */
export function mayRepeat(row: SeenRow, { mediaId, dateMs }: Thing): boolean {
  if (row.repeats >= REPEATS) return false
  if (mediaId !== undefined) return true
  if (dateMs === null || row.dated_at === null) return false
  const isWithin = (oneMs: number, otherMs: number): boolean =>
    Math.abs(oneMs - otherMs) <= REPEATS_WITHIN_MS
  return isWithin(dateMs, row.dated_at) && isWithin(Date.now(), row.seen_at)
}
