/** An entry of the outbox, and its row. */
import type { Approval } from '../kernel/index.ts'
import type { RowSeal } from '../store/row-seal.ts'
import type { SchemaRow } from '../store/schema.ts'

/**
 * `asked`: a person's word is waited for; `waiting` for its time, its turn or the service; `sent`;
 * `refused` with a code, and set aside; `held`, since its chat has become readable; `replaced` by a
 * newer edit of its message.
 */
export type OutboxState = 'asked' | 'waiting' | 'sent' | 'refused' | 'held' | 'replaced'

/** Whether an entry is still to leave, or to be asked for. */
export const isOpen = ({ state }: { state: OutboxState }): boolean =>
  state === 'asked' || state === 'waiting'

/** Whether an entry is over: its words are erased, and it never leaves again. */
export const isOver = ({ state }: { state: OutboxState }): boolean =>
  state === 'sent' || state === 'replaced'

/** A send or an edit that is made later, without its words. Times are in ms since the epoch. */
export interface OutboxEntry {
  /** In the order in which they were given. */
  number: number
  /** A UUID; of a send its `sendId`. */
  id: string
  state: OutboxState
  chatId: number
  /** The message that is edited; null: a send. */
  messageId: string | null
  /** It was given for a chat of sealed words, or of an unknown mode. */
  isForSealed: boolean
  /** The client that gave it, and the credential that it had; null: the bot. */
  client: string | null
  credential: string | null
  createdAtMs: number
  dueAtMs: number
  bytes: number
  /** Why it was refused or is held. */
  code: string | null
  /** The entry of the newer edit that is made in its place. */
  replacedBy: string | null
  /** The message at the service, once it was sent. */
  sentId: number | null
  settledAtMs: number | null
  /** The bot has heard how it was settled. */
  isHeard: boolean
  /**
   * Of the call to the service: `none` was made; it was `answered`; or `open`: it is under way, or its
   * answer was lost, and the service may have the words.
   */
  call: 'none' | 'answered' | 'open'
  /** The person's word that it needs, and got; null: it needs none. */
  approval: Approval | null
}

export type SettledEntry = OutboxEntry & { state: Exclude<OutboxState, 'asked' | 'waiting'> }

/** Whether an entry has a time at which it leaves, or got one by a person's word. */
export const isTimed = (entry: Pick<OutboxEntry, 'createdAtMs' | 'dueAtMs'>): boolean =>
  entry.dueAtMs > entry.createdAtMs

/** Of an entry that was just given. */
export const UNSETTLED = {
  code: null,
  replacedBy: null,
  sentId: null,
  settledAtMs: null,
  isHeard: false,
  call: 'none' as const,
}

export type UnnumberedEntry = Omit<OutboxEntry, 'number'>

/** A replaced entry is refused in its row, with a code of this and the id of the newer one. */
const REPLACED = 'replaced by '

/** The row of an entry, with its MAC; the code of its request rests elsewhere, sealed. */
export const rowOf = ({ approval, ...entry }: UnnumberedEntry, seal: RowSeal) =>
  seal.seal('outbox', {
    id: entry.id,
    state: entry.state === 'replaced' ? 'refused' : entry.state,
    chat_id: entry.chatId,
    message_id: entry.messageId,
    is_for_sealed: Number(entry.isForSealed),
    client: entry.client,
    credential: entry.credential,
    created_at: entry.createdAtMs,
    due_at: entry.dueAtMs,
    bytes: entry.bytes,
    code: entry.replacedBy === null ? entry.code : REPLACED + entry.replacedBy,
    sent_id: entry.sentId,
    settled_at: entry.settledAtMs,
    heard: Number(entry.isHeard),
    call: entry.call,
    approval: approval && JSON.stringify({ ...approval, code: undefined }),
  })

/** @param code of its request; empty where it has none */
export function entryOf(row: SchemaRow<'outbox'>, code: string): OutboxEntry {
  const replacedBy = row.code?.split(REPLACED)[1] ?? null
  return {
    number: row.number,
    id: row.id,
    state: replacedBy === null ? row.state : 'replaced',
    chatId: row.chat_id,
    messageId: row.message_id,
    isForSealed: row.is_for_sealed === 1,
    client: row.client,
    credential: row.credential,
    createdAtMs: row.created_at,
    dueAtMs: row.due_at,
    bytes: row.bytes,
    code: replacedBy === null ? row.code : null,
    replacedBy,
    sentId: row.sent_id,
    settledAtMs: row.settled_at,
    isHeard: row.heard === 1,
    call: row.call,
    approval: row.approval === null ? null : { ...(JSON.parse(row.approval) as Approval), code },
  }
}
