/** The rules of the memory against replays: which data is the same, and which signature may repeat. */
import { OvertakenError } from '../../errors.ts'
import type { OpenedText } from '../../openpgp/index.ts'
import type { NewSeen, Records, SeenRecord, SignatureRepeatRule } from '../memory.ts'
import type { ConfirmedUpdates } from './confirmed-updates.ts'

/** A message or an attachment by its claims. */
export interface Sighting {
  chatId: number
  /** The update with this Message at its top; null for a carried one, an attachment, and own data. */
  updateId: number | null
  /** Null for a quotation without an id, and for own data without one yet. */
  messageId: number | null
  /** Of an attachment; absent for a message. */
  mediaId?: string
  userId: number | null
  /** The date of the Message, ms since the epoch; null for an attachment. */
  dateMs: number | null
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  /** Digest of the verified statement, hex; null for none. */
  signatureDigest: string | null
}

/**
 * `again`: seen before as the same. `replayed`: its data or a signature was seen elsewhere.
 * `confirmed`: its known update was confirmed. `words`: a file that was a message. `new`: none of these.
 */
export type Recognition = Rememberable | 'replayed' | 'confirmed' | 'words'
export type Rememberable = 'new' | 'again'

/** Used within a batch's one transaction, in the order of its messages. */
export interface ReplayCheck {
  /** @param signatureDigests of all its claimed statements, hex */
  recognize(sighting: Thing, signatureDigests: readonly string[]): Promise<Recognition>
  /** Remembers a delivered one. @param as the answer of `recognize` */
  remember(sighting: Sighting, as: Rememberable): Promise<void>
}

/** Before a signature was verified. */
export type Thing = Omit<Sighting, 'signatureDigest'>

/** Sealed data and the statements that it claims, by their digests, hex. */
export type Met = Pick<OpenedText, 'dataDigest'> & { signatures: readonly { digest: string }[] }

/** How long the service keeps an update that nobody confirms (spec, Limits, `retention`). */
export const RETENTION_MS = 72 * 3_600_000
/** How often a person may sign the same words anew in a chat, within which time by both dates. */
export const REPEATS = 2
const REPEATS_WITHIN_MS = 60_000
/** How long after its quotation the update of a Message may arrive: the queue's time and a day. */
const BROUGHT_WITHIN_MS = RETENTION_MS + 86_400_000

/** When a signature may repeat on other data: the same words, sent twice. @param nowMs by our own clock */
function repeatRule(
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

/** Whether a signature of the same place may repeat; the store checks the same as it writes. */
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

/** Whether data of the same place is the same thing. */
function isSameThing(
  seen: SeenRecord,
  { mediaId, messageId, updateId }: Thing,
  nowMs: number,
): boolean {
  if (mediaId !== undefined) return seen.mediaId === mediaId
  const isSameMessage = seen.messageId === null || seen.messageId === messageId
  // a Message is queued before anything can quote it
  const isTooLate = seen.seenAtMs < nowMs - BROUGHT_WITHIN_MS
  const isOtherUpdate = updateId !== null && seen.updateId !== updateId
  if (isOtherUpdate && (seen.updateId !== null || isTooLate)) return false
  return isSameMessage
}

export interface ReplayBatchParts {
  /** As the memory has it, its data first. */
  rowsOf: (sighting: Sighting) => [NewSeen, ...NewSeen[]]
  /** Of its data, then of its statements. */
  digestsOf: (met: Met) => Uint8Array[]
  confirmed: ConfirmedUpdates
  clock: { expiryNowMs(): number }
  nowMs: () => number
}

/** Asks the memory against replays of one batch, within one transaction. */
export function replayCheck(
  records: Records,
  { rowsOf, digestsOf, confirmed, clock, nowMs }: ReplayBatchParts,
): ReplayCheck {
  const { seen } = records
  return {
    async recognize(thing, claims) {
      const signatures = claims.map((digest) => ({ digest }))
      const found = await seen.find(digestsOf({ ...thing, signatures }))
      const isWords = found.some(({ kind, mediaId }) => kind === 'data' && mediaId === null)
      if (isWords && thing.mediaId !== undefined) return 'words'
      if (!found.every((one) => isSamePlace(one, thing))) return 'replayed'
      const known = found.find(({ kind }) => kind === 'data')
      if (known !== undefined) {
        if (!isSameThing(known, thing, clock.expiryNowMs())) return 'replayed'
        const { updateId } = thing
        if (updateId === null || known.isCountedAnew) return 'again'
        return (await confirmed.includes(records, updateId)) ? 'confirmed' : 'again'
      }
      const rule = repeatRule(thing, nowMs())
      return found.every((one) => mayRepeat(one, rule)) ? 'new' : 'replayed'
    },

    async remember(sighting, as) {
      const known = rowsOf(sighting)
      if (as === 'new') {
        const rule = repeatRule(sighting, nowMs())
        return await seen.add(known, { rule, heldBelow: confirmed.heldBelow })
      }
      const bound = await seen.bind(known[0].digest, sighting)
      // numbered by another transaction
      const isOurs = bound !== undefined && isSameThing(bound, sighting, clock.expiryNowMs())
      if (!isOurs) throw new OvertakenError()
    },
  }
}
