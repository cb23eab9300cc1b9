/** Which calls a client of the bot's door may make (README, Clients). */
import { isObject } from '../api/common.ts'
import type { EndpointName } from '../api/endpoints.ts'
import type { KnownChats } from '../kernel/index.ts'
import type { Client, Right } from './records.ts'

/**
 * The right to a call, and where the call names its chats: in its `path`, in its `body`, by the `press`
 * that it answers, or by the `file` that it fetches; `every`: it is about all of them; `each`: what it
 * gives is chosen by `mayRead`.
 */
export interface Need {
  right: Right
  chats: 'path' | 'body' | 'press' | 'file' | 'every' | 'each'
}

const of = (right: Right, chats: Need['chats']): Need => ({ right, chats })

/** `anybody`: any client; null: the bot's own token alone. */
export const NEEDS = {
  getMe: 'anybody',
  getUpdates: of('read', 'each'),
  getWebhook: null,
  setWebhook: null,
  deleteWebhook: null,
  putKey: null,
  getCommands: null,
  putCommands: null,
  deleteCommands: null,
  sendMessage: of('send', 'body'),
  editMessage: of('edit', 'body'),
  deleteMessage: of('delete', 'body'),
  answerCallback: of('answer', 'press'),
  getChat: of('read', 'path'),
  getChatKeys: of('read', 'path'),
  getMembers: of('read', 'path'),
  getMember: of('read', 'path'),
  leaveChat: null,
  sendTyping: of('typing', 'path'),
  resolve: of('read', 'every'),
  getUserKey: of('read', 'every'),
  revokeToken: null,
  getMedia: of('read', 'file'),
} as const satisfies Record<EndpointName | 'getMedia', Need | 'anybody' | null>

export type ClientCall = keyof typeof NEEDS

/** A call of a client. */
export interface ClientAct {
  /** Null for a call that the spec does not list. */
  call: ClientCall | null
  /** The chats that it is about; empty where it names none, or it is not sure which. */
  chatIds: readonly number[]
  /** Of a send or an edit: its text in UTF-16 units, and whether it sets buttons. */
  textChars?: number
  hasButtons?: boolean
  /** It is made later, by the outbox; absent: at once. */
  isLater?: boolean
}

/**
 * The right of a caller to a call that was admitted, which answers, files and calls demand: it is asked
 * again right before they are given or leave.
 */
export interface StillMay {
  /** Asks by memory. @throws Refusal `unauthorized`, `postern_not_allowed` */
  require: () => void
  /** Asks by what any sidecar has written. @throws also Refusal `postern_store_unwritable` */
  ask: () => Promise<void>
  /** Aborts once the credential is nobody's any more. */
  ended: AbortSignal
}

/** The bot itself, and Postern. */
export const OWN_CALL: StillMay = {
  require: () => {},
  ask: async () => {},
  ended: new AbortController().signal,
}

export interface ClientFacts {
  /** ms since the epoch: the latest that any clock shows, so that none revives a client. */
  nowMs: number
  knownChats: Pick<KnownChats, 'get'>
}

/** What a refused client lacks, for the refusal and the journal. */
export interface Lack {
  /** A right, `chat`, `expiry`, `suspended`, `chars`, `buttons`, `files`, or `own-token`. */
  what: string
  detail: string
}

const SUSPENDED: Lack = { what: 'suspended', detail: 'it is suspended' }

/** @returns what the client lacks for a call; null: it may make it */
export function lackOf(client: Client, act: ClientAct, facts: ClientFacts): Lack | null {
  const { expiresAtMs, isSuspended = false } = client
  if (isSuspended) return SUSPENDED
  if (expiresAtMs !== null && facts.nowMs >= expiresAtMs) {
    return { what: 'expiry', detail: `it ended at ${new Date(expiresAtMs).toISOString()}` }
  }
  const need = act.call === null ? null : NEEDS[act.call]
  if (need === null) {
    return { what: 'own-token', detail: 'only the bot’s own token may make this call' }
  }
  if (need === 'anybody') return null
  const { right, chats } = need
  if (!client.may.includes(right)) return { what: right, detail: `it lacks the right ${right}` }
  if (chats === 'file' && !client.files) return { what: 'files', detail: 'it may fetch no files' }
  return lackOfChats(client, chats, act, facts) ?? lackOfRoom(client, act)
}

function lackOfChats(
  client: Client,
  chats: Need['chats'],
  { chatIds }: ClientAct,
  { knownChats }: ClientFacts,
): Lack | null {
  if (chats === 'each' || client.chats.includes('all')) return null
  if (chats === 'every') return lackOfChat('the call is about all chats, and it has not all')
  const missing = chatIds.find((chatId) => !hasChat(client, chatId, knownChats))
  if (chatIds.length > 0 && missing === undefined) return null
  // the same for one that nobody knows: the chat of another's is nothing that a client may learn
  if (chats === 'press' || chats === 'file') return lackOfChat(`its chats have no such ${chats}`)
  if (missing === undefined) return lackOfChat('the call names no chat that is known')
  return lackOfChat(`it lacks the chat ${missing}`)
}

const lackOfChat = (detail: string): Lack => ({ what: 'chat', detail })

/** Whether a client may read an update: each chat that is named in it, at any depth, must be its own. */
export function mayRead(client: Client, update: unknown, facts: ClientFacts): boolean {
  const chatIds: number[] = []
  const isSure = addChats(update, chatIds, 0)
  return lackOf(client, { call: 'getChat', chatIds: isSure ? chatIds : [] }, facts) === null
}

const MAX_DEPTH = 32

/** @returns false where some chat is named by no id that is exact, or too deep */
function addChats(value: unknown, chatIds: number[], depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_DEPTH) return false
  return Object.entries(value).every(([name, inner]: [string, unknown]) => {
    const isNumber = typeof inner === 'number'
    // the fields of most kinds of updates are not specified
    const isOther = /chat(id)?$/i.test(name) && (isObject(inner) || isNumber)
    const isChat = isOther || (name === 'chat' && inner !== null && inner !== undefined)
    if (!isChat) return addChats(inner, chatIds, depth + 1)
    const id = isObject(inner) ? inner['id'] : name !== 'chat' && isNumber ? inner : null
    if (!Number.isSafeInteger(id)) return false
    chatIds.push(id as number)
    return addChats(inner, chatIds, depth + 1)
  })
}

/** By its id, or as the private chat that is bound to a person; never by a kind alone. */
function hasChat(
  { chats, persons }: Client,
  chatId: number,
  knownChats: ClientFacts['knownChats'],
): boolean {
  if (chats.includes(chatId)) return true
  const { kind, personId = null } = knownChats.get(chatId) ?? {}
  return kind === 'private' && personId !== null && persons.includes(personId)
}

function lackOfRoom({ maxChars, buttons }: Client, act: ClientAct): Lack | null {
  if (maxChars !== null && (act.textChars ?? 0) > maxChars) {
    return { what: 'chars', detail: `its texts have at most ${maxChars} UTF-16 units` }
  }
  return act.hasButtons === true && !buttons
    ? { what: 'buttons', detail: 'its messages may have no buttons' }
    : null
}

/** When a client may send next, after a send now and `nextAtMs` so far; `waitMs`: it must wait first. */
export function paced(
  { calls, perMs }: { calls: number; perMs: number },
  { nextAtMs, nowMs }: { nextAtMs: number; nowMs: number },
): { nextAtMs: number } | { waitMs: number } {
  // a clock that was set back must not silence the client for as long
  const from = nextAtMs > nowMs + perMs ? nowMs : Math.max(nextAtMs, nowMs)
  const next = Math.ceil(from + perMs / calls)
  return next > nowMs + perMs ? { waitMs: next - nowMs - perMs } : { nextAtMs: next }
}
