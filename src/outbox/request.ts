/** The request for a person's word on an entry: its code, its text, its digest (README, A person's word). */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { isObject } from '../api/common.ts'
import { CODE_CHARS, CODE_LETTERS, REQUEST_HEADING } from '../kernel/index.ts'
import type { Approval, ApprovalAct, ApprovalRule, TrustChange } from '../kernel/index.ts'
import { parseBody, stringify } from '../util/exact-json.ts'
import type { UnnumberedEntry } from './entry.ts'
import { counted } from '../printable.ts'

/** The digest of a call: of its caller, its place and its stored body. */
export function digestOf({ client, chatId, messageId }: ApprovalAct, words: Buffer): string {
  const place = JSON.stringify([client, chatId, messageId])
  return createHash('sha256').update(place).update(words).digest('hex')
}

/** A word that is not asked for yet. */
export function approvalOf(
  rule: ApprovalRule,
  chats: readonly { userId: number; chatId: number }[],
  o: { digest: string; askedAtMs: number },
): Approval {
  const letter = (): string => CODE_LETTERS[randomInt(CODE_LETTERS.length)] ?? ''
  const code = Array.from({ length: CODE_CHARS }, letter).join('')
  const requests = chats.map((chat) => ({ ...chat, sendId: randomUUID(), messageId: null }))
  return { ...o, code, expiresAtMs: o.askedAtMs + rule.withinMs, requests, decision: null }
}

/** The entry of the journal for a word as it is now. */
export function changesOf({ id, chatId, approval }: UnnumberedEntry): TrustChange[] {
  if (approval === null) return []
  const { digest, requests, decision } = approval
  const by = requests.map(({ userId }) => userId)
  if (decision === null) {
    return [{ kind: 'approval-asked', chatId, userId: null, detail: { entry: id, digest, by } }]
  }
  const { isApproved, userId, fingerprint } = decision
  const kind = isApproved ? 'approval-given' : 'approval-refused'
  return [{ kind, chatId, userId, detail: { entry: id, digest, fingerprint } }]
}

/** The message that asks an approver: Postern's part first, then the words to its end. */
export function requestText(
  { client, chatId, messageId, dueAtMs }: ApprovalAct & { dueAtMs: number },
  words: Buffer,
  { code, expiresAtMs, askedAtMs, kind }: Approval & { kind: string },
): string {
  const body = parseBody(words)
  const { text = '', chatId: _chat, sendId, ...rest } = isObject(body) ? body : {}
  const others = messageId === null || sendId === undefined ? rest : { ...rest, sendId }
  const isoOf = (ms: number): string => new Date(ms).toISOString()
  return `${REQUEST_HEADING}
by: ${client === null ? 'the bot itself' : `client ${client}`}
to: chat ${chatId} (${kind})
what: ${messageId === null ? 'a new message' : `message ${messageId}, changed`}
when: ${dueAtMs > askedAtMs ? `at ${isoOf(dueAtMs)} or later` : 'once you approve'}
with: ${Object.keys(others).length === 0 ? 'nothing else' : escaped(stringify(others))}
Quote this message in your answer, until ${isoOf(expiresAtMs)}:
ok ${code}
no ${code} because …
The words, ${counted(String(text).length, 'character')} to the end of this message:
${String(text)}`
}

/** JSON that shows every character which ends a line, is invisible, or turns others around. */
function escaped(json: string): string {
  const shown = (found: string): string => `\\u{${found.codePointAt(0)?.toString(16)}}`
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, shown)
}
