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

/** A person in a member list. The spec names no field, so all but the id is open. */
export const Member = z.looseObject({
  id: int,
  username: z.string().nullish(),
  firstName: z.string().optional(),
  lastName: z.string().nullish(),
  status: z.string().optional(),
  rights: int.optional(),
  title: z.string().nullish(),
})
export type Member = z.infer<typeof Member>

/** Result of `GET /chats/{chatId}/members`; `memberCount` counts the list as returned. */
export const Members = z.looseObject({ members: z.array(Member), memberCount: int })

/** Handles that can be resolved, without `@`. */
export const USERNAME = /^[A-Za-z0-9_]{3,32}$/

/** Result of `GET /resolve/{username}`. Values of `kind` are not shown by the spec. */
export const Resolved = z.looseObject({ id: int, kind: z.string(), username: z.string() })
export type Resolved = z.infer<typeof Resolved>
