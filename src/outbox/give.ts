/** How a call enters the outbox, and how it leaves. */
import { randomUUID } from 'node:crypto'
import { isObject } from '../api/common.ts'
import { Refusal } from '../errors.ts'
import type { Client, Clients, Guard } from '../kernel/index.ts'
import type { Modes } from '../lookups/modes.ts'
import { readEdit, readSend, type Draft, type DraftRules } from '../translate/draft.ts'
import type { Messages } from '../translate/messages.ts'
import type { Answer } from '../upstream/client.ts'
import { retryAfterSeconds } from '../upstream/service-error.ts'
import { parseBody, stringify } from '../util/exact-json.ts'
import type { OutboxEntries, OutboxEntry } from './entries.ts'
import { passes, type OutboxAttempt } from './outbox.ts'

export interface GiveParts {
  entries: OutboxEntries
  messages: Messages<Answer>
  guard: Pick<Guard, 'mustSeal' | 'rule'>
  modes: Pick<Modes, 'peek'>
  clients: Pick<Clients, 'admitLater'>
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

/** A year. */
const LONGEST_MS = 366 * 86_400_000
/** How long the mode of a chat that is not known is waited for. */
const MODE_MS = 2000

/**
 * Gives a send or an edit to the outbox; a send that is there under its `sendId` stays as it is.
 * @throws Refusal `bad_request` and the others of `readSend`; `conflict` for a `sendId` of somebody
 *   else's or of another chat; and as `OutboxEntries.add`
 */
export async function giveLater(call: LaterCall, parts: GiveParts): Promise<OutboxEntry> {
  const { messageId, client } = call
  const { deliverAt, ...body } = isObject(call.body) ? call.body : {}
  const nowMs = parts.nowMs()
  const dueAtMs = readTime(deliverAt, nowMs)
  const draft = read(messageId, isObject(call.body) ? body : call.body, parts)
  const { sendId } = draft.fields
  const id = typeof sendId === 'string' ? sendId : randomUUID()
  const { chatId } = draft
  const words = { ...body, ...(messageId === null && { sendId: id }) }
  const entry = await parts.entries.add(
    {
      id,
      chatId,
      messageId,
      isForSealed: await isForSealed(chatId, parts),
      client: client?.name ?? null,
      createdAtMs: nowMs,
      dueAtMs,
    },
    Buffer.from(stringify(words)),
  )
  if (entry.chatId === chatId && entry.client === (client?.name ?? null)) return entry
  throw new Refusal('conflict', 'sendId: is in the outbox for another chat or caller')
}

/** Makes the call of an entry now. @throws as `Messages.deliver`; Refusal `postern_not_allowed` */
export async function sendNow(
  { messageId, chatId, client, isForSealed: isSealed }: OutboxEntry,
  words: Buffer,
  parts: GiveParts,
): Promise<OutboxAttempt> {
  const draft = read(messageId, parseBody(words), parts)
  if (client !== null) {
    await parts.clients.admitLater(client, {
      call: messageId === null ? 'sendMessage' : 'editMessage',
      chatIds: [chatId],
      textChars: draft.text?.length ?? 0,
      hasButtons: 'markup' in draft.fields,
    })
  }
  const given = { ...draft, target: { ...draft.target, isForSealed: isSealed } }
  const { status, headers, body, envelope } = await parts.messages.deliver(given, {
    seesPeople: false,
  })
  if (envelope.ok) {
    const { result } = JSON.parse(body.toString()) as { result: { id?: unknown } }
    const sentId = typeof result.id === 'number' ? result.id : null
    return { code: null, sentId, retryMs: null, mayPass: false, isOfAll: false }
  }
  const { code, retryAfter } = envelope.error
  const header = headers['retry-after']
  const retryMs =
    status === 429 ? retryAfterSeconds({ code, header, body: retryAfter }) * 1000 : null
  return { code, sentId: null, retryMs, ...passes(status, code) }
}

function read(messageId: string | null, body: unknown, { rules }: GiveParts): Draft {
  return messageId === null ? readSend(body, rules()) : readEdit(messageId, body, rules())
}

/** @throws Refusal `bad_request` */
function readTime(deliverAt: unknown, nowMs: number): number {
  if (deliverAt === undefined) return nowMs
  const isTime = Number.isSafeInteger(deliverAt) && (deliverAt as number) <= nowMs + LONGEST_MS
  if (isTime) return Math.max(deliverAt as number, nowMs)
  throw new Refusal('bad_request', 'deliverAt: must be a time in ms, at most a year from now')
}

/** Whether words that are given now are for sealed eyes; where that cannot be learned, they are. */
async function isForSealed(chatId: number, { guard, modes }: GiveParts): Promise<boolean> {
  if (guard.mustSeal(chatId)) return true
  const known = modes.peek(chatId, 0)
  if (known !== undefined) return known.mode !== 'open'
  const timeout = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => timeout.resolve(true), MODE_MS)
  const asked = guard.rule(chatId).then(({ body }) => body === 'sealed')
  return await Promise.race([asked.catch(() => true), timeout.promise]).finally(() =>
    clearTimeout(timer),
  )
}
