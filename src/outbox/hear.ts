/** People's words on entries, in replies that were opened (README, A person's word). */
import { isObject } from '../api/common.ts'
import { concernsRequest, decidedBy, mayDecide, wordIn } from '../kernel/index.ts'
import type { GivenWord, HeardWord, JudgedMessage, Journal } from '../kernel/index.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { OutboxEntries } from './entries.ts'

/** Records a word where one is still waited for under this code. @returns whether it was */
export const decide = async (
  entries: Pick<OutboxEntries, 'change'>,
  { id, ...word }: GivenWord & { id: string },
): Promise<boolean> =>
  await entries.change(id, ({ state, approval: before, dueAtMs }) => {
    const approval = state === 'asked' ? decidedBy(word, before) : null
    if (approval === null) return null
    return word.isApproved
      ? { approval, state: 'waiting', dueAtMs: Math.max(dueAtMs, word.atMs) }
      : { approval, state: 'refused', code: 'postern_approval_refused', settledAtMs: word.atMs }
  })

/** Whether a message asks an approver, or may be the one that is being sent. @param chatId null: any */
export const isOfRequest = (
  entries: Pick<OutboxEntries, 'all'>,
  { chatId, messageId }: { chatId: number | null; messageId: string },
): boolean =>
  entries.all.some(({ state, approval }) =>
    approval?.requests.some((one) => {
      const isIt = one.messageId === null ? state === 'asked' : one.messageId === Number(messageId)
      return isIt && (chatId === null || one.chatId === chatId)
    }),
  )

/** The same Message, closed to the bot: it is between a person and Postern (README). */
function closedToBot(one: JudgedMessage): JudgedMessage {
  const { text, armored } = one.found.message
  if (text == null && armored == null) return one
  const final = { verdict: 'not-recipient', reason: 'approval-request' } as const
  return { ...one, finding: { kind: 'closed', ...final }, final }
}

export interface HearParts {
  entries: Pick<OutboxEntries, 'all' | 'approvals' | 'change'>
  journal: Pick<Journal, 'record'>
  /** Reads what any sidecar has written. */
  fresh: () => Promise<void>
  /** By the later clock. */
  nowMs: () => number
}

/** Replies that do not count are noted once for each person and reason. */
const NOTED = 4096

/**
 * Makes the listener to judged updates: it records the words in them before the bot gets them, and
 * closes to the bot what concerns a request. It throws Refusal `postern_store_unwritable`.
 */
export function createHearing(parts: HearParts) {
  const noted = new BoundedMap<string, true>(NOTED)
  return async (update: unknown, messages: readonly JudgedMessage[]): Promise<JudgedMessage[]> => {
    const isSpoken = isObject(update) && update['kind'] === 'message'
    const words = messages.flatMap((one) => wordIn(one) ?? [])
    if (words.length > 0) await parts.fresh()
    // before a word settles its request, so that the code is one of an open request still
    const isClosed = concernsRequest(messages, parts.entries.approvals)
    for (const word of isSpoken ? words : []) await weigh(word, noted, parts)
    return isClosed ? messages.map(closedToBot) : [...messages]
  }
}

async function weigh(
  word: HeardWord,
  noted: BoundedMap<string, true>,
  { entries, journal, nowMs }: HearParts,
): Promise<void> {
  const { code, isApproved, userId, messageId, quotedId, signer: fingerprint = null } = word
  const { id, chatId, approval } = entries.all.find((one) => one.approval?.code === code) ?? {}
  if (id === undefined || chatId === undefined || approval == null) return
  const { decision: before, digest } = approval
  // the same update again
  if (before?.userId === userId && before.messageId === messageId) return
  const atMs = nowMs()
  const decision = mayDecide(word, approval, atMs)
  const given = { id, code, isApproved, userId, messageId, quotedId, atMs, fingerprint }
  if (decision.allowed && (await decide(entries, given))) return
  const why = decision.allowed ? 'decided' : decision.reason
  const key = `${id} ${code} ${userId} ${why}`
  if (noted.has(key)) return
  noted.set(key, true)
  const detail = { entry: id, digest, why }
  await journal.record([{ kind: 'approval-ignored', chatId, userId, detail }])
}
