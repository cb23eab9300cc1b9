/** One Message: whether its chat is protected, what is in it, whose it is. No effects yet. */
import type { Facts } from '../chats/facts.ts'
import type { Modes } from '../chats/modes.ts'
import { FIXED_LIMITS } from '../api/limits.ts'
import { Refusal, ServiceSaid } from '../errors.ts'
import type { OpenedText } from '../pgp/engine.ts'
import { looksEncrypted } from '../pgp/walk.ts'
import type { FoundMessage } from './find-messages.ts'
import type { Guard } from './guard.ts'
import { judgeSignatures, type Judged, type SignatureParts } from './signatures.ts'
import type { Verdict } from './verdict.ts'

/** What was found out about a Message. */
export type Finding =
  | { kind: 'untouched' }
  /** An `armored` in a readable chat: somebody's words, delivered as text. */
  | { kind: 'words' }
  /** Readable text where it should not be, or whose chat's mode cannot be learned. */
  | {
      kind: 'plain'
      verdict: Extract<Verdict, 'plaintext-in-protected' | 'before-key' | 'mode-unknown'>
    }
  | { kind: 'closed'; verdict: Verdict; reason?: string }
  | { kind: 'opened'; opened: OpenedText; judged: Judged }

export interface ExamineParts extends SignatureParts {
  facts: Facts
  modes: Modes
  guard: Guard
}

/** Waits between attempts to learn a mode, in ms. */
const MODE_RETRIES_MS = [200, 800]

/** Examines one Message that reached us at `receivedAtMs`. */
export async function examine(
  found: FoundMessage,
  receivedAtMs: number,
  parts: ExamineParts,
): Promise<Finding> {
  const { armored, text } = found.message
  const sealed = typeof armored === 'string' ? armored : null
  const hasText = typeof text === 'string' && text !== ''
  if (sealed === null && !hasText) return { kind: 'untouched' }
  const isProtected = await learnProtected(found, sealed, { receivedAtMs, parts })
  if (sealed === null) return examinePlain(found, isProtected, parts)
  if (isProtected === 'unknown') return { kind: 'closed', verdict: 'mode-unknown' }
  if (!isProtected) return { kind: 'words' }
  return await examineSealed(found, sealed, { receivedAtMs, parts })
}

async function learnProtected(
  found: FoundMessage,
  sealed: string | null,
  { receivedAtMs, parts }: { receivedAtMs: number; parts: ExamineParts },
): Promise<boolean | 'unknown'> {
  const { chatId } = found
  if (chatId === null) return 'unknown'
  if (parts.guard.mustSeal(chatId)) return true
  const afresh = sealed !== null && looksEncrypted(sealed)
  const sinceMs = afresh ? receivedAtMs : 0
  for (const waitMs of [...MODE_RETRIES_MS, null]) {
    try {
      const { mode } = await parts.modes.get(chatId, sinceMs)
      return mode === 'protected' || parts.guard.mustSeal(chatId)
    } catch (error) {
      if (waitMs === null || isFinal(error)) return 'unknown'
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
  return 'unknown'
}

/** The service gave an answer that asking again will not change soon. */
function isFinal(error: unknown): boolean {
  if (error instanceof ServiceSaid) return error.status < 500
  return error instanceof Refusal && error.code === 'postern_store_unwritable'
}

function examinePlain(
  found: FoundMessage,
  isProtected: boolean | 'unknown',
  parts: ExamineParts,
): Finding {
  if (isProtected === 'unknown') return { kind: 'plain', verdict: 'mode-unknown' }
  if (!isProtected) return { kind: 'untouched' }
  const verdict = isBeforeKey(found, parts) ? 'before-key' : 'plaintext-in-protected'
  return { kind: 'plain', verdict }
}

/** Private words from before our first publication, which the service may still have queued. */
function isBeforeKey(found: FoundMessage, parts: ExamineParts): boolean {
  const { chatId, dateMs } = found
  if (chatId === null || !parts.facts.isPrivate(chatId)) return false
  const publishedAtMs = parts.keyring.firstPublishedAtMs
  if (publishedAtMs === null) return !parts.facts.isLatched(chatId)
  const queuedUntilMs = publishedAtMs + FIXED_LIMITS.retentionMs
  return dateMs !== null && dateMs < publishedAtMs && Date.now() < queuedUntilMs
}

async function examineSealed(
  found: FoundMessage,
  sealed: string,
  { receivedAtMs, parts }: { receivedAtMs: number; parts: ExamineParts },
): Promise<Finding> {
  const opened = await parts.engine.open(sealed, parts.keyring.unlocked)
  if (opened.outcome === 'not-encrypted') {
    return { kind: 'closed', verdict: 'damaged', reason: 'not-encrypted' }
  }
  if (opened.outcome !== 'opened') {
    const reason =
      'reason' in opened && opened.reason !== undefined ? { reason: opened.reason } : {}
    return { kind: 'closed', verdict: opened.outcome, ...reason }
  }
  const claimed = { chatId: found.chatId ?? 0, fromId: found.fromId, receivedAtMs }
  const judged = await judgeSignatures(opened, claimed, parts)
  if (judged.verdict === 'not-recipient') return { kind: 'closed', ...judged }
  return { kind: 'opened', opened, judged }
}
