/** Readable private words from before the bot's key, which the service may still have queued. */
import type { FoundMessage } from './find-messages.ts'
import type { ExaminedMessage } from './finding.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { RETENTION_MS } from './seen-rules.ts'
import { whyNotAnyMore, type ExamineParts, type SenderParts } from './sender-rules.ts'
import { judgeUnsigned, type Claimed } from './signatures.ts'
import type { Reasoned } from './verdict.ts'

const WITHHELD: Reasoned = { verdict: 'plaintext-in-protected' }

/**
 * Judges readable words in a protected chat: `before-key` for those from before the key, of a person
 * who may speak unsigned, since an old date bypasses neither block, pin nor ratchet.
 */
export async function judgeReadable(
  found: FoundMessage,
  arrival: Pick<Claimed, 'receivedAtMs' | 'signal'>,
  parts: ExamineParts,
): Promise<Reasoned> {
  const { chatId, fromId, dateMs } = found
  if (chatId === null || !isBeforeKey(found, parts)) return WITHHELD
  // the bot's own words, quoted by a Message of that time, are as unsigned as all others
  if (found.position === 'carried' && fromId === parts.botId()) return { verdict: 'before-key' }
  const claimed = { kind: 'words' as const, chatId, fromId, dateMs, ...arrival }
  const { verdict, transientError } = await judgeUnsigned(claimed, parts)
  if (verdict === 'unsigned') return { verdict: 'before-key' }
  return transientError === undefined ? WITHHELD : { ...WITHHELD, transientError }
}

function isBeforeKey({ chatId, dateMs, message }: FoundMessage, parts: ExamineParts): boolean {
  if (typeof message['text'] !== 'string') return false
  if (chatId === null || !parts.knownChats.isPrivate(chatId)) return false
  const publishedAtMs = parts.keyring.firstPublishedAtMs
  if (publishedAtMs === null) return !parts.knownChats.isLatched(chatId)
  const queuedUntilMs = publishedAtMs + RETENTION_MS
  return dateMs !== null && dateMs < publishedAtMs && parts.clock.expiryNowMs() < queuedUntilMs
}

type Examined = Pick<ExaminedMessage, 'found' | 'finding'>

const isFromBeforeKey = ({ finding }: Examined): boolean =>
  finding.kind === 'plain' && finding.verdict === 'before-key'

/** The chats of such words in which sealed data was opened: the words do not count there. */
export async function chatsPastKey(
  examined: readonly Examined[],
  memory: Pick<ReplayMemory, 'hasOpened'>,
  botId: number | null,
): Promise<Set<number | null>> {
  const chats = new Set(examined.filter(isFromBeforeKey).map(({ found }) => found.chatId))
  for (const chatId of chats) {
    if (chatId === null || !(await memory.hasOpened(chatId, botId))) chats.delete(chatId)
  }
  return chats
}

/** The verdict that replaces `before-key` now. @param o `past` chats with opened data, `signed` people */
export function whyPastKey(
  one: Examined,
  { past, signed }: { past: ReadonlySet<number | null>; signed: ReadonlySet<number | null> },
  parts: SenderParts,
): Reasoned | undefined {
  if (!isFromBeforeKey(one)) return undefined
  const { chatId, fromId } = one.found
  const sender = { fromId, chatId: chatId ?? 0, kind: 'words' as const }
  const isPast =
    past.has(chatId) ||
    signed.has(fromId) ||
    whyNotAnyMore({ verdict: 'unsigned' }, sender, parts) !== null
  return isPast ? WITHHELD : undefined
}
