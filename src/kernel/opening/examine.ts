/** One Message: whether its chat is protected, what is in it, whose it is. No effects yet. */
import type { KnownChats } from '../wall/known-chats.ts'
import type { ModeLookups } from '../lookups.ts'
import { looksEncrypted, type OpenedText } from '../../openpgp/index.ts'
import { judgeAudience, type AudienceParts } from './audience.ts'
import { judgeReadable } from './before-key.ts'
import type { FoundMessage } from './find-messages.ts'
import type { Guard } from '../wall/guard.ts'
import { judgeSignatures, type Judged, type SignatureParts } from './signatures.ts'
import { type Reason, type TransientError, type Verdict, transientErrorOf } from './verdict.ts'

/** What was found out about a Message. */
export type MessageFinding =
  | { kind: 'untouched' }
  /** An `armored` in a readable chat: somebody's words, delivered as text. */
  | { kind: 'readable' }
  /** Readable text where it should not be, or whose chat's mode cannot be learned. */
  | {
      kind: 'plain'
      verdict: Extract<
        Verdict,
        'plaintext-in-protected' | 'before-key' | 'mode-unknown' | 'bad-signature'
      >
      reason?: Reason
    }
  | { kind: 'closed'; verdict: Verdict; reason?: Reason }
  /** `isForOtherChat` counts where the memory does not know the message as one of this chat. */
  | { kind: 'opened'; opened: OpenedText; judged: Judged; isForOtherChat: boolean }

/** A finding; `passing` when asking the service again soon may give a better one. */
export interface Examined {
  finding: MessageFinding
  passing: TransientError | null
}

/** A Message with what was found out, and in how many ms. */
export interface Judgeable {
  found: FoundMessage
  examined: Examined
  ms: number
}

export interface ExamineParts extends SignatureParts, Omit<AudienceParts, keyof SignatureParts> {
  knownChats: KnownChats
  modes: ModeLookups
  guard: Guard
}

/** When a batch reached us, and what ends work on it that nobody waits for. */
export interface Arrival {
  /** `Time.monotonicMs`. */
  receivedAtMs: number
  signal: AbortSignal
}

/** Examines one Message. */
export async function examine(
  found: FoundMessage,
  arrival: Arrival,
  parts: ExamineParts,
): Promise<Examined> {
  const { armored, text } = found.message
  const sealed = typeof armored === 'string' && armored !== '' ? armored : null
  const isNoText = isThere(armored) && sealed === null
  if (sealed === null && !isNoText && !isThere(text)) return settled({ kind: 'untouched' })
  const { isProtected, passing } = await learnMode(found, sealed, { arrival, parts })
  if (isNoText && isProtected === true) {
    return settled({ kind: 'closed', verdict: 'damaged', reason: 'not-a-string' })
  }
  if (sealed === null)
    return await examinePlain(found, { isProtected, passing }, { arrival, parts })
  if (isProtected === null) return { finding: { kind: 'closed', verdict: 'mode-unknown' }, passing }
  if (!isProtected) return settled({ kind: 'readable' })
  return await examineSealed(found, sealed, { arrival, parts })
}

/** What is found of a Message that was not examined: nothing of it is words. */
export function unexamined(
  { armored }: Record<string, unknown>,
  reason: 'deadline' | 'failed' | 'too-many-messages',
): MessageFinding {
  if (typeof armored !== 'string') return { kind: 'plain', verdict: 'mode-unknown' }
  const verdict = reason === 'too-many-messages' ? 'too-large' : 'damaged'
  return { kind: 'closed', verdict, reason }
}

/** Whether it was examined as a readable chat's, and the chat is protected by now. */
export function isProtectedSince(
  { found, examined }: { found: FoundMessage; examined: Examined },
  guard: Pick<Guard, 'mustSeal'>,
): boolean {
  const { kind } = examined.finding
  const { text, armored } = found.message
  const wasReadable =
    kind === 'readable' || (kind === 'untouched' && (isThere(text) || isThere(armored)))
  const chats = [found.chatId, found.updateChatId].filter((id) => id !== null)
  return wasReadable && chats.some((id) => guard.mustSeal(id))
}

/** Whatever it is: a bot may show a list or a number as well as a text. */
const isThere = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

const settled = (finding: MessageFinding): Examined => ({ finding, passing: null })

/** Whether the chat is protected; null when that cannot be learned. */
interface LearntMode {
  isProtected: boolean | null
  passing: TransientError | null
}

async function learnMode(
  { chatId, updateChatId }: FoundMessage,
  sealed: string | null,
  { arrival, parts }: { arrival: Arrival; parts: ExamineParts },
): Promise<LearntMode> {
  if (chatId === null) return { isProtected: null, passing: null }
  // a quotation that says it is from elsewhere is held to the stricter of the two chats
  const chats = [...new Set([chatId, updateChatId ?? chatId])]
  const sinceMs = sealed !== null && looksEncrypted(sealed) ? arrival.receivedAtMs : 0
  try {
    return { isProtected: await isProtectedIn(chats, sinceMs, parts), passing: null }
  } catch (error) {
    return { isProtected: null, passing: transientErrorOf(error) }
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
  { guard, modes }: Pick<ExamineParts, 'guard' | 'modes'>,
): Promise<boolean> {
  const isKnown = (): boolean => chatIds.some((id) => guard.mustSeal(id))
  if (isKnown()) return true
  const answers = await Promise.all(chatIds.map((id) => modes.get(id, sinceMs)))
  return answers.some(({ mode }) => mode === 'protected') || isKnown()
}

async function examinePlain(
  found: FoundMessage,
  { isProtected, passing }: LearntMode,
  { arrival, parts }: { arrival: Arrival; parts: ExamineParts },
): Promise<Examined> {
  if (isProtected === null) return { finding: { kind: 'plain', verdict: 'mode-unknown' }, passing }
  if (!isProtected) return settled({ kind: 'untouched' })
  if (isByStranger(found, parts)) return settled({ kind: 'plain', ...OTHER_PERSON })
  const judged = await judgeReadable(found, arrival, parts)
  return { finding: { kind: 'plain', verdict: judged.verdict }, passing: judged.passing }
}

export const OTHER_PERSON = { verdict: 'bad-signature', reason: 'other-person' } as const

type Place = Pick<FoundMessage, 'chatId' | 'fromId' | 'pressedById'>

/** A private chat has one person: nobody else writes, sends files or presses there, but the bot. */
export function isByStranger(
  place: Place,
  parts: Pick<AudienceParts, 'knownChats' | 'botId'>,
): boolean {
  return strangerIn(place, parts) !== null
}

/** Who else than its person wrote or pressed in a private chat; null when nobody did. */
export function strangerIn(
  { chatId, fromId, pressedById }: Place,
  { knownChats, botId }: Pick<AudienceParts, 'knownChats' | 'botId'>,
): number | null {
  const personId = chatId === null ? null : knownChats.personOf(chatId)
  if (personId === null) return null
  if (fromId !== null && fromId !== personId && fromId !== botId()) return fromId
  return pressedById === personId ? null : pressedById
}

/** Why a sealed Message is not opened wherever it stands; null when it may be. */
function whyClosed(found: FoundMessage): MessageFinding | null {
  // An update speaks of one chat: a bot that quotes would hand another's words to this one.
  if (found.chatId !== found.updateChatId) {
    return { kind: 'closed', verdict: 'replayed', reason: 'other-chat' }
  }
  if (found.position === 'top' && found.messageId === null) {
    return { kind: 'closed', verdict: 'damaged', reason: 'no-message-id' }
  }
  return null
}

async function examineSealed(
  found: FoundMessage,
  sealed: string,
  { arrival, parts }: { arrival: Arrival; parts: ExamineParts },
): Promise<Examined> {
  const closed = whyClosed(found)
  if (closed !== null) return settled(closed)
  const opened = await parts.engine.open(sealed, parts.keyring.unlocked, arrival.signal)
  if (opened.outcome === 'not-encrypted') {
    return settled({ kind: 'closed', verdict: 'damaged', reason: 'not-encrypted' })
  }
  if (opened.outcome !== 'opened') {
    const { outcome, reason } = opened
    return settled({ kind: 'closed', verdict: outcome, ...(reason !== undefined && { reason }) })
  }
  // Somebody's stored file would be their words, with their signature.
  if (opened.isFile) return settled({ kind: 'closed', verdict: 'damaged', reason: 'is-a-file' })
  if (isByStranger(found, parts)) {
    return settled({ kind: 'opened', opened, judged: OTHER_PERSON, isForOtherChat: false })
  }
  const { chatId, fromId, dateMs } = found
  const place = { chatId: chatId ?? 0, fromId, dateMs, ...arrival }
  const bySignatures = await judgeSignatures(opened, { kind: 'words', ...place }, parts)
  const audience = await judgeAudience(bySignatures, opened, place, parts)
  const { passing = null, ...judged } = audience.judged
  if (judged.verdict === 'not-recipient') return settled({ kind: 'closed', ...judged })
  const { isForOtherChat } = audience
  return { finding: { kind: 'opened', opened, judged, isForOtherChat }, passing }
}
