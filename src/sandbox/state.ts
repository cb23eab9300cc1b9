import type { z } from 'zod'
import type { ChatKind, SEAT_STATUS } from '../api/chat.ts'
import type { Command } from '../api/command.ts'
import type * as results from './control/results.ts'
import type { RateWindows } from './rules/rate-windows.ts'
import type { UpdateQueue } from './update-queue.ts'

/**
 * The state of the service: plain objects that only the rules change. Times are ms since the Unix
 * epoch. Setting a field of a record stores the record; so replace a list or object in a record,
 * never change it in place.
 */

/** A certificate as its owner published it. The service does not parse it. */
export type PublishedKey = z.output<typeof results.PublishedCertificate>

export interface PersonState extends Omit<
  z.output<typeof results.PersonEntry>,
  'fingerprint' | 'hasPhone'
> {
  key: PublishedKey | null
  /** Ids of bots that this person blocked. */
  blocked: readonly number[]
}

export interface WebhookState {
  url: string
  secret: string | null
  failures: number
  lastError: string | null
  nextAttemptAt: number | null
}

export type OwnerNotice = z.output<typeof results.OwnerNotice>

type Profile = z.output<typeof results.BotProfile>

export interface BotRecord extends Omit<
  Profile,
  'mode' | 'fingerprint' | 'webhook' | 'queued' | 'limits'
> {
  key: PublishedKey | null
  /** Null once revoked. */
  token: string | null
  webhook: Readonly<WebhookState> | null
  /** Notices that the app showed to the owner. */
  ownerNotices: readonly OwnerNotice[]
}

export interface BotState extends BotRecord {
  /** Aborting it ends the deliveries to the webhook. */
  delivering?: AbortController | undefined
  queue: UpdateQueue
  windows: RateWindows
  /** By scope; an empty list is not stored. */
  commands: Map<string, Command[]>
  /** By `sendId`. */
  sent: Map<string, { chatId: number; messageId: number; date: number }>
  /** By chat: when the last typing indicator was sent, and whether phones still show it. */
  typing: Map<number, { sentAt: number; showing: boolean }>
  presses: Map<string, PressState>
}

export interface PressState {
  id: string
  botId: number
  userId: number
  chatId: number
  messageId: number
  pressedAt: number
  /** The bot's answer. */
  answer: z.output<z.ZodObject<typeof results.ANSWER_FIELDS>> | null
}

export type MembershipStatus = Exclude<(typeof SEAT_STATUS)[number], 'left'>

export interface Membership {
  status: MembershipStatus
  /** Bits of `RIGHTS`. */
  rights: number
  restrictedUntil: number | null
  title: string | null
  /** The first message that the member may read. */
  firstMessageId: number
  /** When the member last wrote, for slow mode. */
  wroteAt: number | null
}

/** The bits of `rights`, which the spec leaves open. */
export const RIGHTS = {
  deleteMessages: 1,
  restrictMembers: 2,
  addMembers: 4,
  changeInfo: 8,
  postMessages: 16,
} as const
export const ALL_RIGHTS = 31

export type StoredMessage = z.output<typeof results.ChatMessage>
export type MessageKind = StoredMessage['kind']
export type MediaState = StoredMessage['media'][number]

/** What a chat begins with, beside its id and kind. */
export const NEW_CHAT = {
  /** What people at this sandbox call it, as a seed does. The service shows it to nobody. */
  name: null as string | null,
  title: null as string | null,
  username: null as string | null,
  description: null as string | null,
  /** A group or channel with open history is readable, any other is encrypted. */
  historyVisible: false,
  slowModeSeconds: 0,
  /** Members who are no administrators see administrators only. */
  rosterHidden: false,
  /** A channel that hides its administrators. */
  adminsHidden: false,
  nextMessageId: 1,
}

export type ChatRecord = { id: number; kind: ChatKind } & typeof NEW_CHAT

export interface ChatState extends ChatRecord {
  /** By account. */
  members: Map<number, Membership>
  /** By id; ids grow by one from 1 in each chat, so those of two chats overlap. */
  messages: Map<number, StoredMessage>
}
