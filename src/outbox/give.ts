/** How a call enters the outbox, and how it leaves. */
import { randomUUID } from 'node:crypto'
import { setTimeout as elapsed } from 'node:timers/promises'
import { isObject } from '../api/common.ts'
import { Refusal } from '../errors.ts'
import type { Clients } from '../clients/clients.ts'
import { OWN_CALL, type ClientAct, type StillMay } from '../clients/may-client.ts'
import type { Client } from '../clients/records.ts'
import { isForSealed, requireNoCode } from '../kernel/index.ts'
import type {
  Approval,
  Approvals,
  Clearance,
  Guard,
  KeyLookups,
  LaterGround,
  PermitGround,
} from '../kernel/index.ts'
import { readEdit, readSend, type Draft, type DraftRules } from '../translate/draft.ts'
import type { Messages } from '../translate/messages.ts'
import type { Answer } from '../service/client.ts'
import { serviceErrorOf } from '../service/service-error.ts'
import { monotonicNow } from '../util/clock.ts'
import { parseBody, stringify } from '../util/exact-json.ts'
import { keyOf, type EditPlace, type Edits } from './edits.ts'
import { isTimed, type OutboxEntries, type OutboxEntry } from './entries.ts'
import { isOfRequest } from './hear.ts'
import { attemptOf, UNFORESEEN, type OutboxAttempt } from './outbox.ts'
import { digestOf, requestText } from './request.ts'

export interface GiveParts {
  entries: OutboxEntries
  edits: Edits
  messages: Messages<Answer>
  guard: Pick<Guard, 'rule'>
  clients: Pick<Clients, 'admitLater' | 'leaves'>
  clientShares: { takeCalls: (client: string, act: ClientAct) => void }
  approvals: Approvals
  directory: Pick<KeyLookups, 'signer'>
  /** How old the certificate of an approver may be when a call leaves, in ms. */
  approverMaxAgeMs: number
  /** Reads what any sidecar has written. */
  fresh: () => Promise<void>
  rules: () => DraftRules
  nowMs: () => number
}

/** A call for later, as its caller made it. */
export interface LaterCall {
  /** The body, with `deliverAt` where it is to leave at a time. */
  body: unknown
  /** The message of an edit; null: a send. */
  messageId: string | null
  client: Client | null
}

/** An entry, with the ids of those that it replaced. */
export type GivenEntry = OutboxEntry & { replaces: readonly string[] }

/** Where a call is made, and by whom. */
export type CallPlace = Omit<LaterCall, 'body'> & { chatId: number; sendId?: unknown }

const LONGEST_MS = 7 * 86_400_000
/** How long the rule of a chat is waited for: a call is answered also while the service is away. */
const MODE_MS = 2000

/**
 * Gives a send or an edit to the outbox; a send that is there under its `sendId` stays as it is.
 * @throws Refusal `bad_request` and the others of `readSend`; `conflict` for a `sendId` of somebody
 *   else's or of another chat; and as `OutboxEntries.add`
 */
export async function giveLater(call: LaterCall, parts: GiveParts): Promise<GivenEntry> {
  const { messageId, client } = call
  const { deliverAt, ...body } = isObject(call.body) ? call.body : {}
  const nowMs = parts.nowMs()
  const dueAtMs = readTime(deliverAt, nowMs)
  const draft = read(messageId, isObject(call.body) ? body : call.body, parts)
  const { sendId } = draft.fields
  // an edit has no `sendId`: a field of that name is another
  const id = messageId === null && typeof sendId === 'string' ? sendId : randomUUID()
  const { chatId } = draft
  const words = Buffer.from(stringify({ ...body, ...(messageId === null && { sendId: id }) }))
  const given = {
    id,
    chatId,
    messageId,
    isForSealed: await isForSealed(chatId, parts.guard, elapsed(MODE_MS, null, { ref: false })),
    client: client?.name ?? null,
    credential: client?.credential ?? null,
    createdAtMs: nowMs,
    dueAtMs,
  }
  const entry = await parts.entries.add(given, words)
  const isSame = entry.client === given.client && entry.credential === given.credential
  if (entry.chatId !== chatId || !isSame) throw taken()
  return { ...entry, replaces: await parts.edits.replaceOlder(entry, parts.entries) }
}

const taken = (): Refusal =>
  new Refusal('conflict', 'sendId: is in the outbox for another chat or caller')

/**
 * Clears a call that is made at once; null: it needs a person's word, or is an edit that would overtake
 * another of its caller that waits, or exceed the pace of its message.
 * @throws Refusal `conflict` under the `sendId` of another caller's entry; as `refuseRequest`
 */
export async function clearNow(
  { chatId, messageId, client, sendId }: CallPlace,
  parts: GiveParts,
): Promise<Clearance | null> {
  const place = { credential: client?.credential ?? null, chatId, messageId }
  const given = parts.entries.get(String(sendId))
  if (given !== undefined && given.credential !== place.credential) throw taken()
  if (messageId !== null) {
    await refuseRequest({ chatId, messageId }, parts)
    if (await mustWait(place, parts)) return null
  }
  return parts.approvals.clear({ client: client?.name ?? null, chatId, messageId })
}

async function mustWait(place: EditPlace, { edits, entries, fresh }: GiveParts): Promise<boolean> {
  if (!edits.isOn) return false
  await fresh()
  const isAhead = (one: OutboxEntry): boolean => !isTimed(one) && keyOf(one) === keyOf(place)
  return edits.untilFreeMs(place, 0) > 0 || entries.waiting.some(isAhead)
}

/** A message, to be edited or deleted. */
export interface MessageOfCall {
  /** Null where the call does not name it, or it is not sure which. */
  chatId: number | null
  messageId: string
}

/** @throws Refusal `postern_request_fixed` for a message that asks an approver */
export async function refuseRequest(
  place: MessageOfCall,
  { approvals, entries, fresh }: GiveParts,
): Promise<void> {
  if (!approvals.isOn && entries.all.every(({ approval }) => approval === null)) return
  await fresh()
  if (isOfRequest(entries, place)) throw new Refusal('postern_request_fixed')
}

/** The words of an entry, and the ground on which any leave. */
interface LeavingWords {
  words: Buffer
  turn: PermitGround
}

/**
 * Makes the call of an entry now, or asks for the word that it needs.
 * @throws as `Messages.deliver`
 */
export async function sendNow(entry: OutboxEntry, o: LeavingWords, parts: GiveParts) {
  const { state, approval, client, chatId } = entry
  const act: ClientAct = { call: 'sendMessage', chatIds: [chatId] }
  if (client !== null) parts.clientShares.takeCalls(client, act)
  requireNoCode(parseBody(o.words), parts.entries.approvals)
  if (state !== 'asked' || approval === null) return await leave(entry, o, parts)
  if (approval.digest !== digestOf(entry, o.words)) throw new Refusal('postern_approval_changed')
  return await ask(entry, { ...o, approval }, parts)
}

/** Asks each approver who was not asked yet; those who cannot be are left out. */
async function ask(
  entry: OutboxEntry,
  { words, turn, approval }: LeavingWords & { approval: Approval },
  parts: GiveParts,
): Promise<OutboxAttempt> {
  const { approvals, entries, rules } = parts
  const text = requestText(entry, words, { ...approval, kind: approvals.kindOf(entry.chatId) })
  for (const request of approval.requests.filter(({ messageId }) => messageId === null)) {
    if (entries.get(entry.id)?.state !== 'asked') break
    const { chatId, sendId } = request
    const draft = readSend({ chatId, text, sendId }, rules())
    const clearance = approvals.clearRequest(request)
    const leaving = { clearance, stillMay: OWN_CALL, later: { ...turn, isForSealed: true } }
    const attempt = await deliver(draft, leaving, parts).catch(attemptOf)
    if (attempt.mayPass) return attempt
    // the word may have been given already
    await entries.change(entry.id, ({ approval: now }) => {
      if (now?.code !== approval.code) return null
      const requests = now.requests.flatMap((one) => {
        if (one.sendId !== request.sendId) return one
        if (attempt.sentId !== null) return { ...one, messageId: attempt.sentId }
        return now.decision === null ? [] : one
      })
      return { approval: { ...now, requests } }
    })
  }
  if (entries.get(entry.id)?.approval?.requests.length !== 0) return sentAs(null)
  throw new Refusal('postern_approver_unreachable')
}

/** @throws Refusal `postern_not_allowed`, and as `Approvals.mayLeave` */
async function leave(entry: OutboxEntry, { words, turn }: LeavingWords, parts: GiveParts) {
  const { messageId, chatId, approval } = entry
  const draft = read(messageId, parseBody(words), parts)
  const stillMay = await parts.clients.admitLater(entry, {
    call: messageId === null ? 'sendMessage' : 'editMessage',
    chatIds: [chatId],
    textChars: draft.text?.length ?? 0,
    hasButtons: 'markup' in draft.fields,
  })
  if (messageId !== null) await refuseRequest({ chatId, messageId }, parts)
  const request = approval?.requests.find(({ userId }) => userId === approval.decision?.userId)
  const sinceMs = monotonicNow() - parts.approverMaxAgeMs
  const clearance = parts.approvals.mayLeave(entry, approval, {
    digest: digestOf(entry, words),
    approver: request
      ? await parts.directory.signer(request.userId, request.chatId, sinceMs)
      : null,
  })
  const later = laterOf(entry, turn, parts.clients)
  return await deliver(draft, { clearance, stillMay, later }, parts)
}

/**
 * The ground on which the words of an entry leave. A client's count by its rate as they leave, once;
 * those that a person approved counted when they were given.
 */
function laterOf(
  { isForSealed: isSealed, client, call, approval }: OutboxEntry,
  turn: PermitGround,
  clients: Pick<Clients, 'leaves'>,
): LaterGround {
  let isCounted = client === null || call !== 'none' || approval !== null
  const renew = async (): Promise<void> => {
    if (client !== null && !isCounted) await clients.leaves(client)
    isCounted = true
    await turn.renew()
  }
  return { isForSealed: isSealed, require: turn.require, renew }
}

async function deliver(
  draft: Draft,
  { later, ...o }: { later: LaterGround; clearance: Clearance; stillMay: StillMay },
  { messages }: GiveParts,
): Promise<OutboxAttempt> {
  const given = { ...draft, target: { ...draft.target, later } }
  const answer = await messages.deliver(given, { seesPeople: false, ...o })
  if (!answer.envelope.ok) return attemptOf(serviceErrorOf(answer, answer.envelope.error))
  const { result } = JSON.parse(answer.body.toString()) as { result: { id?: unknown } }
  return sentAs(typeof result.id === 'number' ? result.id : null)
}

/** The service made a call. */
const sentAs = (sentId: number | null): OutboxAttempt => ({
  ...UNFORESEEN,
  code: null,
  sentId,
  mayPass: false,
  isAnswered: true,
})

const read = (messageId: string | null, body: unknown, { rules }: GiveParts): Draft =>
  messageId === null ? readSend(body, rules()) : readEdit(messageId, body, rules())

/** @throws Refusal `bad_request` */
function readTime(deliverAt: unknown, nowMs: number): number {
  if (deliverAt === undefined) return nowMs
  const isTime = Number.isSafeInteger(deliverAt) && (deliverAt as number) <= nowMs + LONGEST_MS
  if (isTime) return Math.max(deliverAt as number, nowMs)
  throw new Refusal('bad_request', 'deliverAt: must be a time in ms, at most 7 days from now')
}
