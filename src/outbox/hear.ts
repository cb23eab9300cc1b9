/** People's words on entries, in replies that were opened (README, A person's word). */
import { isObject } from '../api/common.ts'
import {
  whyNotCounted,
  wordIn,
  type ApprovalDecision,
  type HeardWord,
  type Journal,
  type NumberedMessage,
} from '../kernel/index.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { OutboxEntries } from './entries.ts'

/** Records a word where one is still waited for under this code. @returns whether it was */
export async function decide(
  entries: Pick<OutboxEntries, 'change'>,
  { id, code, ...decision }: ApprovalDecision & { id: string; code: string },
): Promise<boolean> {
  return await entries.change(id, ({ state, approval, dueAtMs }) => {
    if (state !== 'asked' || approval?.code !== code) return null
    const settledAtMs = decision.atMs
    const how = decision.isApproved
      ? { state: 'waiting' as const, dueAtMs: Math.max(dueAtMs, decision.atMs) }
      : { state: 'refused' as const, code: 'postern_approval_refused', settledAtMs }
    return { approval: { ...approval, decision }, ...how }
  })
}

/** Whether a message asks an approver, or may be the one that is being sent. @param chatId null: any */
export function isOfRequest(
  entries: Pick<OutboxEntries, 'all'>,
  { chatId, messageId }: { chatId: number | null; messageId: string },
): boolean {
  return entries.all.some(({ state, approval }) =>
    approval?.requests.some((one) => {
      const isIt = one.messageId === null ? state === 'asked' : one.messageId === Number(messageId)
      return isIt && (chatId === null || one.chatId === chatId)
    }),
  )
}

export interface HearParts {
  entries: Pick<OutboxEntries, 'all' | 'change'>
  journal: Pick<Journal, 'record'>
  /** Reads what any sidecar has written. */
  fresh: () => Promise<void>
  /** By the later clock. */
  nowMs: () => number
}

/** Replies that do not count are noted once for each person and reason. */
const NOTED = 4096

/**
 * Makes the listener to opened updates with their Messages, verdicts written in: it records the words
 * in them before the bot gets them, and throws Refusal `postern_store_unwritable`.
 */
export function createHearing(parts: HearParts) {
  const noted = new BoundedMap<string, true>(NOTED)
  return async (update: unknown, messages: readonly NumberedMessage[]): Promise<void> => {
    if (!isObject(update) || update['kind'] !== 'message') return
    for (const word of messages.map(wordIn)) if (word !== null) await weigh(word, noted, parts)
  }
}

async function weigh(
  word: HeardWord,
  noted: BoundedMap<string, true>,
  { entries, journal, fresh, nowMs }: HearParts,
): Promise<void> {
  await fresh()
  const { code, isApproved, userId, messageId, signer: fingerprint = null } = word
  const { id, chatId, approval } = entries.all.find((one) => one.approval?.code === code) ?? {}
  if (id === undefined || chatId === undefined || approval == null) return
  const { decision, digest } = approval
  // the same update again
  if (decision?.userId === userId && decision.messageId === messageId) return
  const atMs = nowMs()
  let why = whyNotCounted(word, approval, atMs)
  const given = { id, code, isApproved, userId, messageId, atMs, fingerprint }
  if (why === null && !(await decide(entries, given))) why = 'decided'
  const key = `${id} ${code} ${userId} ${why}`
  if (why === null || noted.has(key)) return
  noted.set(key, true)
  const detail = { entry: id, digest, why }
  await journal.record([{ kind: 'approval-ignored', chatId, userId, detail }])
}
