import { z } from 'zod'
import { int, ts } from './common.ts'
import { ChatReference } from './chat.ts'

/** An attachment. The spec shows an id, a url of the form `/media/<id>`, and a duration in ms. */
export const MediaItem = z.looseObject({
  id: z.union([z.int(), z.string()]),
  url: z.string(),
})
export type MediaItem = z.infer<typeof MediaItem>

/** Media ids that are ever put into a path. */
export const MEDIA_ID = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$/

/**
 * The id in a url of the form `/media/<id>`, as it stands or behind the service's base url.
 * @param baseUrl without a slash at its end
 * @returns null for any other url
 */
export function mediaIdOf(url: string, baseUrl: string): string | null {
  const path = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url
  const id = path.startsWith('/media/') ? path.slice('/media/'.length) : ''
  return MEDIA_ID.test(id) ? id : null
}

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

/** Result of a send (201, or 200 on a repeated `sendId`) and of an edit (200). */
export const SentMessage = z.looseObject({ id: int, date: ts })
export type SentMessage = z.infer<typeof SentMessage>
