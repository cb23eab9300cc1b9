/** One Message: whether its chat is protected, its content, its sender. No effects yet. */
import { looksEncrypted, type Engine } from '../../openpgp/index.ts'
import type { ModeLookups } from '../lookups.ts'
import type { Guard } from '../wall/guard.ts'
import { judgeAudience, type AudienceParts } from './audience.ts'
import { judgeReadable } from './before-key.ts'
import type { FoundMessage } from './find-messages.ts'
import type { ExaminedMessage, MessageFinding } from './finding.ts'
import { maySpeak } from './sender-rules.ts'
import { judgeSignatures, type SignatureParts } from './signatures.ts'
import { withTransientError, type Reason, type Reasoned, type Verdict } from './verdict.ts'

/** When a batch reached us, and what ends work on it that nobody waits for. */
export interface Arrival {
  /** `Time.monotonicMs`. */
  receivedAtMs: number
  signal: AbortSignal
}

export interface ModeParts {
  guard: Pick<Guard, 'mustSeal'>
  modes: ModeLookups
}

export interface ExamineParts extends SignatureParts, AudienceParts, ModeParts {
  engine: Pick<Engine, 'open' | 'verify'>
  /** Characters of the longest message that the service accepts. */
  readableMax: () => number
}

export async function examine(
  found: FoundMessage,
  arrival: Arrival,
  parts: ExamineParts,
): Promise<MessageFinding> {
  const { armored, text } = found.message
  if (!isPresent(armored) && !isPresent(text)) return { kind: 'untouched' }
  const isSealed = typeof armored === 'string' && armored !== ''
  const sinceMs = isSealed && looksEncrypted(armored) ? arrival.receivedAtMs : 0
  const isProtected = await learnMode(found, sinceMs, parts)
  if (typeof isProtected !== 'boolean') {
    return { kind: isSealed ? 'closed' : 'plain', ...isProtected }
  }
  if (!isProtected) return { kind: isSealed ? 'readable' : 'untouched' }
  if (isSealed) return await examineSealed(found, armored, { arrival, parts })
  if (isPresent(armored)) return closed('damaged', 'not-a-string')
  const speaker = maySpeak(found, parts)
  const judged = speaker.allowed ? await judgeReadable(found, arrival, parts) : speaker.reason
  return { kind: 'plain', ...judged }
}

/** Of any type: a bot may show a list or a number as well as a text. */
const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

const closed = (verdict: Verdict, reason?: Reason): MessageFinding => ({
  kind: 'closed',
  verdict,
  ...(reason !== undefined && { reason }),
})

/** Whether the chat is protected; the verdict `mode-unknown` where that cannot be learned. */
async function learnMode(
  { chatId, updateChatId }: FoundMessage,
  sinceMs: number,
  parts: ModeParts,
): Promise<boolean | Reasoned> {
  const unknown: Reasoned = { verdict: 'mode-unknown' }
  if (chatId === null) return unknown
  try {
    // the stricter of the two chats counts for a quotation that names another one
    return await isProtectedIn([...new Set([chatId, updateChatId ?? chatId])], sinceMs, parts)
  } catch (error) {
    return withTransientError(unknown, error)
  }
}

/**
 * Whether anything in one of these chats must be sealed.
 * @param sinceMs an answer `open` counts that was asked for then (`Time.monotonicMs`) or later
 * @throws ServiceError, NoResponseError, Refusal when a mode cannot be learned
 */
export async function isProtectedIn(
  chatIds: readonly number[],
  sinceMs: number,
  { guard, modes }: ModeParts,
): Promise<boolean> {
  const isKnown = (): boolean => chatIds.some((id) => guard.mustSeal(id))
  if (isKnown()) return true
  const answers = await Promise.all(chatIds.map((id) => modes.get(id, sinceMs)))
  return answers.some(({ mode }) => mode === 'protected') || isKnown()
}

/** Whether it was examined as a readable chat's, and the chat is protected by now. */
export function isProtectedSince(
  { found, finding }: Pick<ExaminedMessage, 'found' | 'finding'>,
  guard: Pick<Guard, 'mustSeal'>,
): boolean {
  const { text, armored } = found.message
  const wasReadable =
    finding.kind === 'readable' ||
    (finding.kind === 'untouched' && (isPresent(text) || isPresent(armored)))
  const chats = [found.chatId, found.updateChatId].filter((id) => id !== null)
  return wasReadable && chats.some((id) => guard.mustSeal(id))
}

async function examineSealed(
  found: FoundMessage,
  sealed: string,
  { arrival, parts }: { arrival: Arrival; parts: ExamineParts },
): Promise<MessageFinding> {
  const { chatId, fromId, dateMs } = found
  // an update is about one chat: a bot that quotes would give words of another chat to this one
  if (chatId === null || chatId !== found.updateChatId) return closed('replayed', 'other-chat')
  const isNameless = found.position === 'top' && found.messageId === null
  if (isNameless) return closed('damaged', 'no-message-id')
  if (sealed.length > parts.readableMax()) return closed('too-large', 'armor')
  const opened = await parts.engine.open(sealed, parts.keyring.unlocked, arrival.signal)
  if (opened.outcome === 'not-encrypted') return closed('damaged', 'not-encrypted')
  if (opened.outcome !== 'opened') return closed(opened.outcome, opened.reason)
  // a stored file of a person would be their words, with their signature
  if (opened.isFile) return closed('damaged', 'is-a-file')
  const speaker = maySpeak(found, parts)
  if (!speaker.allowed) {
    return { kind: 'opened', opened, judged: speaker.reason, isForOtherChat: false }
  }
  const place = { chatId, fromId, dateMs, ...arrival }
  const bySignatures = await judgeSignatures(opened, { kind: 'words', ...place }, parts)
  const { judged, isForOtherChat } = await judgeAudience(bySignatures, opened, place, parts)
  if (judged.verdict === 'not-recipient') return { kind: 'closed', ...judged }
  return { kind: 'opened', opened, judged, isForOtherChat }
}
