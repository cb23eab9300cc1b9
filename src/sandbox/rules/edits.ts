import type { Markup } from '../../api/markup.ts'
import type { ChatState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import type { MessageContent } from './content.ts'

/** A change of a message. Whether it may be changed is already checked. */
export interface MessageEdit {
  chat: ChatState
  message: StoredMessage
  /** Null leaves the content as it is. */
  content: MessageContent | null
  /** Null removes the buttons; undefined leaves them. */
  markup?: Markup | null | undefined
}

/** Changes a message in place, now. Phones see it live; bots get no update (spec, Events). */
export function applyEdit(world: World, { chat, message, content, markup }: MessageEdit): void {
  if (content !== null) Object.assign(message, content)
  if (markup !== undefined) message.markup = markup
  message.editedAt = world.clock.now()
  world.emit({ kind: 'edited', chat, message })
}

/** Deletes a message and its files, for everybody and for good. Bots get no update. */
export function applyDeletion(world: World, chat: ChatState, message: StoredMessage): void {
  chat.messages.delete(message.id)
  for (const { id } of message.media) world.files.delete(id)
  world.emit({ kind: 'deleted', chat, messageId: message.id })
}
