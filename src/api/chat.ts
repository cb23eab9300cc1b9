import { z } from 'zod'
import { int, perhaps, ts } from './common.ts'

/** Chat kinds of the spec. Answers may hold others, which are kept as strings. */
export const CHAT_KINDS = ['private', 'group', 'channel'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

/** `open`: send `text`; `protected`: send `armored` (spec, Chat). */
export const ChatMode = z.enum(['open', 'protected'])
export type ChatMode = z.infer<typeof ChatMode>

/** The bot's membership of a chat. The meaning of the bits of `rights` is not shown by the spec. */
export const OwnMembership = z.looseObject({
  status: z.string(),
  rights: int,
  restrictedUntil: ts.nullable(),
})
export type OwnMembership = z.infer<typeof OwnMembership>

/**
 * Result of `GET /chats/{chatId}`. Only what the sidecar decides on is demanded; the rest is
 * optional here because the spec shows it for groups and channels only, or not at all.
 */
export const Chat = z.looseObject({
  id: int,
  kind: z.string(),
  mode: ChatMode,
  title: perhaps(z.string()),
  username: perhaps(z.string()),
  description: perhaps(z.string()),
  memberCount: perhaps(int),
  historyVisible: perhaps(z.boolean()),
  slowModeSeconds: perhaps(int),
  me: perhaps(OwnMembership),
})
export type Chat = z.infer<typeof Chat>

/** The chat inside a Message. */
export const ChatReference = z.looseObject({ id: int, kind: z.string() })
export type ChatReference = z.infer<typeof ChatReference>

/** Whether what is written in the chat must be sealed. */
export function isProtected(chat: { mode: ChatMode }): boolean {
  return chat.mode === 'protected'
}
