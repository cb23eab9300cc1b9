/** A person's word before a call leaves: which calls need one, and which replies count (outbox, README). */
import { Refusal } from '../../errors.ts'
import { ALLOWED, denied, type Decision } from '../decision.ts'
import type { FinalVerdict, JudgedMessage } from '../opening/finding.ts'
import type { People } from '../people/people.ts'
import { decisionAgainst, type Person } from '../people/person.ts'
import type { Trust } from '../people/trust.ts'
import { isObject } from '../unseen.ts'
import { CODE_CHARS, CODE_LETTERS, holdsCode } from './codes.ts'
import type { KnownChats } from './known-chats.ts'

export interface ApprovalRule {
  /** By id, or all: a kind, or the person of a private chat, is first known by the service's word. */
  chats: readonly (number | 'all')[]
  /** Clients by name; absent: every caller, the bot too. */
  clients?: readonly string[] | undefined
  kinds: readonly ('send' | 'edit')[]
  /** Each of them may give the word. */
  by: readonly number[]
  withinMs: number
}

export interface ApprovalAct {
  /** Null: the bot. */
  client: string | null
  chatId: number
  /** The message that is edited; null: a send. */
  messageId: string | null
}

/** A message that asks an approver, in the private chat with that person. */
export interface ApprovalRequest {
  userId: number
  chatId: number
  /** Random, so that no caller can send another message under it first. */
  sendId: string
  /** Null until it was sent. */
  messageId: number | null
}

/** The word of a person, or of the operator (null). Times are in ms since the epoch. */
export interface ApprovalDecision {
  isApproved: boolean
  userId: number | null
  messageId: number | null
  atMs: number
  /** Of the certificate that verified the reply. */
  fingerprint: string | null
}

export interface Approval {
  code: string
  /** Of the call as it was shown. */
  digest: string
  askedAtMs: number
  expiresAtMs: number
  requests: readonly ApprovalRequest[]
  decision: ApprovalDecision | null
}

/** The first words of each request. */
export const REQUEST_HEADING = 'A call needs your word.'
const WORD = new RegExp(
  String.raw`^\s*(?:(ok)|no)\s+([${CODE_LETTERS}]{${CODE_CHARS}})(\s+because\b[^]*)?\s*$`,
  'i',
)
/** So many calls of one caller wait for one person's word; the next is refused. */
const MOST_OPEN = 10
/** How far the clock of an approver's phone may be behind. */
const CLOCKS_MS = 120_000

/** A Message that reads as a word: `ok CODE`, `no CODE` or `no CODE because …`. */
export type HeardWord = NonNullable<ReturnType<typeof wordIn>>

/** The word in a Message, whether it counts or not; null: it has none. */
export function wordIn(one: JudgedMessage) {
  const { message, position, isOrdinary, updateChatId, ...place } = one.found
  const { chatId, fromId: userId, messageId } = place
  const [isWord, ok, code = '', because] = WORD.exec(textOf(one)) ?? []
  if (isWord === undefined || (ok !== undefined && because !== undefined)) return null
  if (position !== 'top' || !isOrdinary || chatId !== updateChatId) return null
  const final: FinalVerdict = one.final ?? { verdict: 'unsigned' }
  const word = { isApproved: ok !== undefined, code: code.toUpperCase() }
  return { ...final, ...word, userId, chatId, messageId, quotedId: quotedIn(message) }
}

function textOf({ found, finding }: JudgedMessage): string {
  const { text } = finding.kind === 'opened' ? finding.opened : found.message
  return typeof text === 'string' ? text : ''
}

function quotedIn({ replyTo }: Record<string, unknown>): number | null {
  const id: unknown = isObject(replyTo) ? replyTo['id'] : replyTo
  return Number.isSafeInteger(id) ? (id as number) : null
}

/** Whether an update is a request, or contains or quotes one: it would give the bot the code. */
export function concernsRequest(
  messages: readonly JudgedMessage[],
  approvals: readonly Approval[],
): boolean {
  const requests = approvals.flatMap((one) => one.requests)
  const codes = approvals.map(({ code }) => code)
  return messages.some((one) => {
    const { message, messageId, ...found } = one.found
    const ids = [messageId, quotedIn(message)].filter((id) => id !== null)
    const isAsked = requests.some(({ chatId, messageId: id }) =>
      id === null ? false : chatId === found.chatId && ids.includes(id),
    )
    const text = textOf(one)
    const isRequest = isAsked || text.trimStart().startsWith(REQUEST_HEADING)
    // also of a decided call: its update may be delivered again
    return isRequest || holdsCode(text, codes)
  })
}

/** @throws Refusal `postern_code_refused` for a body that holds the code of an open request */
export function requireNoCode(body: unknown, approvals: readonly Approval[]): void {
  const codes = approvals.flatMap(({ code, decision }) => (decision === null ? [code] : []))
  if (holdsCode(body, codes)) throw new Refusal('postern_code_refused')
}

/** Whether a word with the code of a request counts. @param nowMs by the later clock */
export function mayDecide(word: HeardWord, approval: Approval, nowMs: number): Decision<string> {
  const { userId, chatId, quotedId, verdict, reason, signer, signedAtMs = 0 } = word
  const request = approval.requests.find((one) => one.userId === userId && one.chatId === chatId)
  if (request === undefined) return denied('other-person')
  // until the id is recorded: who knows the code has read the request
  if (quotedId === null || quotedId !== (request.messageId ?? quotedId))
    return denied('other-quotation')
  if (verdict !== 'verified' || reason !== undefined || signer === undefined) {
    return denied('not-verified')
  }
  if (signedAtMs < approval.askedAtMs - CLOCKS_MS) return denied('signed-before')
  if (nowMs >= approval.expiresAtMs) return denied('late')
  return approval.decision === null ? ALLOWED : denied('decided')
}

/** A word under the code of its request, which it may quote where the request's answer was lost. */
export type GivenWord = ApprovalDecision & { code: string; quotedId?: number | null }

/** The approval that a word decides; null: none is waited for under its code. */
export function decidedBy(
  { code, quotedId, ...decision }: GivenWord,
  approval: Approval | null,
): Approval | null {
  if (approval?.code !== code || approval.decision !== null) return null
  const requests = approval.requests.map((one) =>
    one.userId === decision.userId ? { ...one, messageId: one.messageId ?? quotedId ?? null } : one,
  )
  return { ...approval, requests, decision }
}

/** That a call may leave now; made in this file alone. */
class ApprovalClearance {
  readonly #chatId: number
  readonly #isSend: boolean

  constructor({ chatId, messageId }: Omit<ApprovalAct, 'client'>) {
    this.#chatId = chatId
    this.#isSend = messageId === null
  }

  static allows(value: unknown, chatId: number, isSend: boolean): boolean {
    if (typeof value !== 'object' || value === null || !(#chatId in value)) return false
    return value.#chatId === chatId && value.#isSend === isSend
  }
}
export type Clearance = ApprovalClearance

/** @throws Refusal `postern_approval_needed` unless the kernel has cleared this call */
export function requireCleared(
  clearance: Clearance,
  { chatId, target }: { chatId: number; target: { route: 'send' | 'edit' } },
): void {
  if (ApprovalClearance.allows(clearance, chatId, target.route === 'send')) return
  throw new Refusal('postern_approval_needed')
}

export interface ApprovalParts {
  /** Setting `approve`. */
  rules: readonly ApprovalRule[]
  knownChats: Pick<KnownChats, 'get' | 'all'>
  trust: Pick<Trust, 'distrust' | 'isShared'>
  people: Pick<People, 'isOthers'>
}

export class Approvals {
  readonly #parts: ApprovalParts

  constructor(parts: ApprovalParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#parts.rules.length > 0
  }

  /** The first rule that demands a word for a call; null: none does. */
  demandOf({ client, chatId, messageId }: ApprovalAct): ApprovalRule | null {
    const kind = messageId === null ? 'send' : 'edit'
    const isOf = ({ chats, clients, kinds }: ApprovalRule): boolean =>
      (clients === undefined || (client !== null && clients.includes(client))) &&
      kinds.includes(kind) &&
      (chats.includes('all') || chats.includes(chatId))
    return this.#parts.rules.find(isOf) ?? null
  }

  kindOf(chatId: number): string {
    return this.#parts.knownChats.get(chatId)?.kind ?? 'unknown'
  }

  /**
   * The private chats of a rule's approvers. @param open the people for whose words the same caller waits
   * @throws Refusal `postern_approver_unreachable` for none; `postern_approver_busy`
   */
  chatsOf({ by }: ApprovalRule, open: readonly number[]): { userId: number; chatId: number }[] {
    const most = Math.max(...by.map((userId) => open.filter((one) => one === userId).length))
    // who they are, a client may not know
    if (most >= MOST_OPEN) throw new Refusal('postern_approver_busy')
    const chats = this.#parts.knownChats.all.filter(({ kind }) => kind === 'private')
    const found = by.flatMap((userId) => {
      const { id: chatId } = chats.find(({ personId }) => personId === userId) ?? {}
      return chatId === undefined ? [] : { userId, chatId }
    })
    if (found.length > 0) return found
    throw new Refusal('postern_approver_unreachable')
  }

  /** Clears a call that is made at once; null: a rule demands a word. */
  clear(act: ApprovalAct): Clearance | null {
    return this.demandOf(act) === null ? new ApprovalClearance(act) : null
  }

  /** Clears the message that asks an approver: Postern writes it. */
  clearRequest({ chatId }: ApprovalRequest): Clearance {
    return new ApprovalClearance({ chatId, messageId: null })
  }

  /**
   * Clears a call of the outbox right before it leaves, by the rules of now, the `digest` of the stored
   * call, and the certificate that is listed now for the person of the decision.
   * @throws Refusal `postern_approval_needed`, `postern_approval_changed`, `postern_approver_changed`
   */
  mayLeave(
    act: ApprovalAct,
    approval: Approval | null,
    { digest, approver }: { digest: string; approver: Person | null },
  ): Clearance {
    const clearance = approval === null ? this.clear(act) : null
    if (clearance !== null) return clearance
    const decision = approval?.decision
    const isApproved = approval && decision?.isApproved && decision.atMs < approval.expiresAtMs
    if (!isApproved) throw new Refusal('postern_approval_needed')
    if (digest !== approval.digest) throw new Refusal('postern_approval_changed')
    const request = approval.requests.find(({ userId }) => userId === decision.userId)
    const rule = this.demandOf(act)
    const mayGive = request !== undefined && (rule === null || rule.by.includes(request.userId))
    const isSigner = approver !== null && approver.fingerprint === decision.fingerprint
    if (mayGive && isSigner && approver.userId === request.userId && approver.unusable === null) {
      const isShared = this.#parts.trust.isShared(approver.fingerprint ?? '')
      const isRefused = decisionAgainst(approver, request.chatId, this.#parts) !== null
      if (!isShared && !isRefused) return new ApprovalClearance(act)
    }
    throw new Refusal('postern_approver_changed')
  }
}
