import type { ChatKind } from '../api/chat.ts'
import type { Command } from '../api/command.ts'
import type { Markup } from '../api/markup.ts'
import type { SEAT_STATUS } from '../api/endpoints.ts'
import type { RateWindows } from './rules/rate-windows.ts'
import type { UpdateQueue } from './update-queue.ts'

/**
 * The state of the service: plainKind records, changed by rules alone. Times are ms since epoch. What
 * is called a record is kept as it is, so a list or record in one is replaced, never changed.
 */

/** A certificate as its owner published it; nothing in the sandbox's service side parses it. */
export interface PublishedKey {
  fingerprint: string
  publicKey: string
}

export interface PersonState {
  id: number
  username: string
  firstName: string
  lastName: string | null
  key: PublishedKey | null
  /** Closed the account. */
  gone: boolean
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

export interface OwnerNotice {
  at: number
  kind: 'token_revoked' | 'webhook_failing'
}

export interface BotRecord {
  id: number
  username: string
  name: string
  about: string | null
  description: string | null
  key: PublishedKey | null
  privacyMode: boolean
  allowGroups: boolean
  status: 'active' | 'paused'
  /** Null once revoked. */
  token: string | null
  webhook: Readonly<WebhookState> | null
  /** What the owner was told in the app. */
  ownerNotices: readonly OwnerNotice[]
}

export interface BotState extends BotRecord {
  /** Ends the deliveries to its webhook. */
  delivering: AbortController | null
  queue: UpdateQueue
  windows: RateWindows
  /** By scope; an empty list is not kept. */
  commands: Map<string, Command[]>
  /** By `sendId`. */
  sent: Map<string, { chatId: number; messageId: number; date: number }>
  /** When the last typing indicator went out, and whether it still shows, by chat. */
  typing: Map<number, { sentAt: number; showing: boolean }>
  presses: Map<string, PressState>
}

export type ButtonAnswer = { text: string | null; alert: boolean; url: string | null }

export interface PressState {
  id: string
  botId: number
  userId: number
  chatId: number
  messageId: number
  pressedAt: number
  answer: ButtonAnswer | null
}

export type MembershipStatus = (typeof SEAT_STATUS)[number]

export interface Membership {
  status: MembershipStatus
  /** Bits of `RIGHTS`. */
  rights: number
  restrictedUntil: number | null
  title: string | null
  /** The first message id that the seat's holder may read. */
  firstMessageId: number
  /** When the holder last wrote, for slow mode. */
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

export type MessageKind = 'user' | 'joined' | 'left'

export interface StoredMessage {
  id: number
  fromId: number
  date: number
  kind: MessageKind
  text: string | null
  armored: string | null
  replyTo: number | null
  markup: Markup | null
  media: MediaState[]
  editedAt: number | null
}

export interface MediaState {
  id: string
  /** For timed media. */
  durationMs: number | null
}

export interface ChatRecord {
  id: number
  kind: ChatKind
  title: string | null
  username: string | null
  description: string | null
  /** Groups and channels with open history are readable, any other is encrypted. */
  historyVisible: boolean
  slowModeSeconds: number
  /** Only administrators are shown to those who are none. */
  rosterHidden: boolean
  /** A channel that keeps its administrators private. */
  adminsHidden: boolean
  nextMessageId: number
}

export interface ChatState extends ChatRecord {
  members: Map<number, Membership>
  /** By id; ids grow by one from 1 in each chat, so those of two chats overlap. */
  messages: Map<number, StoredMessage>
}

/** What people's phones are told. */
export type WorldEvent =
  | { kind: 'message' | 'edited'; chat: ChatState; message: StoredMessage }
  | { kind: 'deleted'; chat: ChatState; messageId: number }
  | { kind: 'key'; userId: number; key: PublishedKey | null }
  | { kind: 'typing'; chat: ChatState; botId: number; typing: boolean }
  | { kind: 'answer'; press: PressState; answer: ButtonAnswer }
