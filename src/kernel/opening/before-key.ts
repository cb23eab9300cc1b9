/** Readable private words from before the bot's key, which the service may still have queued. */
import { ALLOWED, denied, type Decision } from '../decision.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { FoundMessage } from './find-messages.ts'
import type { ExaminedMessage } from './finding.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { RETENTION_MS } from './seen-rules.ts'
import { mayStand, type SenderParts } from './sender-rules.ts'
import { judgeUnsigned, type Claimed, type UnsignedParts } from './signatures.ts'
import type { Reasoned } from './verdict.ts'

type BeforeKeyParts = UnsignedParts & { keyring: Pick<OwnKeys, 'firstPublishedAtMs'> }

const WITHHELD: Reasoned = { verdict: 'plaintext-in-protected' }

/**
 * Judges readable words in a protected chat: `before-key` for those from before the key, of a person
 * who may speak unsigned, since an old date bypasses neither block, pin nor ratchet.
 */
export async function judgeReadable(
  found: FoundMessage,
  arrival: Pick<Claimed, 'receivedAtMs' | 'signal'>,
  parts: BeforeKeyParts,
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

function isBeforeKey({ chatId, dateMs, message }: FoundMessage, parts: BeforeKeyParts): boolean {
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

/** Whether a verdict `before-key` is still right. @param o `past` chats with opened data, `signed` people */
export function mayStandBeforeKey(
  one: Examined,
  { past, signed }: { past: ReadonlySet<number | null>; signed: ReadonlySet<number | null> },
  parts: SenderParts,
): Decision<Reasoned> {
  if (!isFromBeforeKey(one)) return ALLOWED
  const { chatId, fromId } = one.found
  if (past.has(chatId) || signed.has(fromId)) return denied(WITHHELD)
  const sender = { fromId, chatId: chatId ?? 0, kind: 'words' as const }
  return mayStand({ verdict: 'unsigned' }, sender, parts).allowed ? ALLOWED : denied(WITHHELD)
}
