import { z } from 'zod'
import { int, perhaps } from './common.ts'

/** Chat kinds of the spec. Answers may hold others, which are kept as strings. */
export const CHAT_KINDS = ['private', 'group', 'channel'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

/** `open`: send `text`; `protected`: send `armored` (spec, Chat). */
export const ChatMode = z.enum(['open', 'protected'])
export type ChatMode = z.infer<typeof ChatMode>

/** Statuses of a chat's member (spec, States). */
export const SEAT_STATUS = ['owner', 'admin', 'member', 'restricted', 'left'] as const

/**
 * Result of `GET /chats/{chatId}`. Only the fields that decisions depend on are required; the rest
 * is optional here because the spec shows it for groups and channels only, or not at all.
 */
export const Chat = z.looseObject({
  id: int,
  kind: z.string(),
  mode: ChatMode,
  memberCount: perhaps(int),
  historyVisible: perhaps(z.boolean()),
})
export type Chat = z.infer<typeof Chat>

/** Whether messages of the chat must be sealed. */
export const isProtected = (chat: { mode: ChatMode }): boolean => chat.mode === 'protected'

/** Handles that can be resolved, without `@`. */
export const USERNAME = /^[A-Za-z0-9_]{3,32}$/
