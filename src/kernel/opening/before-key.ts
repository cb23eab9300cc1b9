/** Readable private words from before the bot's key, which the service may still have queued. */
import type { KnownChats } from '../wall/known-chats.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { RETENTION_MS } from './seen-rules.ts'
import type { FoundMessage } from './find-messages.ts'
import { judgeUnsigned, type Claimed, type SignatureParts } from './signatures.ts'
import type { TransientError } from './verdict.ts'

type Parts = SignatureParts & { knownChats: Pick<KnownChats, 'isPrivate' | 'isLatched'> }
const WITHHELD = { verdict: 'plaintext-in-protected' } as const

/**
 * Whether readable words in a protected chat are from before the key, and of somebody who may speak
 * unsigned: an old date gets nothing past block, pin and ratchet.
 */
export async function judgeReadable(
  found: FoundMessage,
  arrival: Pick<Claimed, 'receivedAtMs' | 'signal'>,
  parts: Parts,
): Promise<{ verdict: 'before-key' | 'plaintext-in-protected'; passing: TransientError | null }> {
  const { chatId, fromId, dateMs } = found
  if (chatId === null || !isBeforeKey(found, parts)) return { ...WITHHELD, passing: null }
  // its own words, which a Message of that time quotes, the bot has signed no more than anybody
  if (found.position === 'carried' && fromId === parts.botId())
    return { verdict: 'before-key', passing: null }
  const claimed = { kind: 'words' as const, chatId, fromId, dateMs, ...arrival }
  const { verdict, passing = null } = await judgeUnsigned(claimed, parts)
  return verdict === 'unsigned' ? { verdict: 'before-key', passing } : { ...WITHHELD, passing }
}

function isBeforeKey({ chatId, dateMs, message }: FoundMessage, parts: Parts): boolean {
  if (typeof message['text'] !== 'string') return false
  if (chatId === null || !parts.knownChats.isPrivate(chatId)) return false
  const publishedAtMs = parts.keyring.firstPublishedAtMs
  if (publishedAtMs === null) return !parts.knownChats.isLatched(chatId)
  const queuedUntilMs = publishedAtMs + RETENTION_MS
  return dateMs !== null && dateMs < publishedAtMs && parts.clock.expiryNowMs() < queuedUntilMs
}

/** A judged Message, as far as it counts here. */
interface JudgedMessage {
  found: Pick<FoundMessage, 'chatId' | 'fromId'>
  examined: { finding: { kind: string; verdict?: string } }
}

export const isFromBeforeKey = ({ examined: { finding } }: JudgedMessage): boolean =>
  finding.kind === 'plain' && finding.verdict === 'before-key'

/** Chats, of those with words from before the key, where something sealed was opened: no such words count there. */
export async function chatsPastKey(
  judged: readonly JudgedMessage[],
  memory: Pick<ReplayMemory, 'hasOpened'>,
  botId: number | null,
): Promise<Set<number | null>> {
  const chats = new Set(judged.filter(isFromBeforeKey).map(({ found }) => found.chatId))
  for (const chatId of chats) {
    if (chatId === null || !(await memory.hasOpened(chatId, botId))) chats.delete(chatId)
  }
  return chats
}
