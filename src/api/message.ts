import { z } from 'zod'
import { int, ts } from './common.ts'
import { ChatReference } from './chat.ts'
import { MediaItem } from './media.ts'

/** Who wrote a message. */
export const Sender = z.looseObject({
  id: int,
  username: z.string().nullish(),
  firstName: z.string().optional(),
  lastName: z.string().nullish(),
  isBot: z.boolean().optional(),
})
export type Sender = z.infer<typeof Sender>

/**
 * A Message inside an update. `kind` is `user` for ordinary messages; every other value is a
 * service notice. `text` in readable chats, `armored` in protected ones.
 */
export const Message = z.looseObject({
  id: int,
  chat: ChatReference,
  from: Sender.nullish(),
  date: ts,
  replyTo: z.unknown().optional(),
  kind: z.string(),
  text: z.string().nullish(),
  armored: z.string().nullish(),
  media: z.array(MediaItem).optional(),
})
export type Message = z.infer<typeof Message>

/** True for what a person wrote, false for a service notice (spec, Message). */
export function isOrdinary(message: { kind?: unknown }): boolean {
  return message.kind === undefined || message.kind === 'user'
}
