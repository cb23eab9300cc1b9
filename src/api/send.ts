import { z } from 'zod'
import { int } from './common.ts'

/**
 * Body of `POST /messages` by type and name alone. The choice of `text` or `armored`, the text's
 * characters and the keyboard's form depend on the chat and are checked where it is known.
 */
export const SendBody = z.strictObject({
  chatId: int,
  text: z.string().optional(),
  armored: z.string().optional(),
  replyTo: int.nullable().optional(),
  markup: z.unknown().optional(),
  silent: z.boolean().optional(),
  /** The shape of a UUID, of any version. */
  sendId: z.guid().toLowerCase().optional(),
})
export type SendBody = z.infer<typeof SendBody>

/** Body of `PATCH /messages/{messageId}`; absent `markup` keeps the buttons, null removes them. */
export const EditBody = SendBody.pick({ chatId: true, text: true, armored: true, markup: true })
export type EditBody = z.infer<typeof EditBody>

/** Names that the spec lists for a send and for an edit; no others enter a protected chat. */
export const SEND_FIELDS: ReadonlySet<string> = new Set(Object.keys(SendBody.shape))
export const EDIT_FIELDS: ReadonlySet<string> = new Set(Object.keys(EditBody.shape))

/** Body of `DELETE /messages/{messageId}`, which may also be absent. */
export const DeleteBody = z.strictObject({ chatId: int })

/** Body of `POST /chats/{chatId}/typing`, which may also be absent. */
export const TypingBody = z.strictObject({ typing: z.boolean().optional() })

/**
 * The same bodies with room for further fields: the spec rules them out for other bodies alone, and
 * a later version of the service may know them.
 */
export const OpenSendBody = z.looseObject(SendBody.shape)
export const OpenEditBody = z.looseObject(EditBody.shape)
export const OpenDeleteBody = z.looseObject(DeleteBody.shape)
export const OpenTypingBody = z.looseObject(TypingBody.shape)
