import type { Markup } from '../../api/buttons.ts'
import { botsIn } from './find.ts'
import { messageView } from '../views/message.ts'
import type { BotState, ChatState, MediaState, MessageKind, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { isAddressed, type MessageContent } from './content.ts'
import { stopTyping } from './typing.ts'

/** A message to be posted. Whether it may be posted is already checked. */
export interface Post {
  chat: ChatState
  fromId: number
  kind?: MessageKind
  text?: string | null | undefined
  armored?: string | null | undefined
  /** A message of the same chat; an unknown id is ignored. */
  replyTo?: number | null | undefined
  markup?: Markup | null
  media?: MediaState[]
  /** Bots that the sender's phone addresses: the service cannot read sealed text. */
  addressed?: readonly number[] | undefined
}

/** Stores a message, emits it to the phones, and queues it for the bots that receive it. */
export function post(world: World, input: Post): StoredMessage {
  const { chat } = input
  const message: StoredMessage = {
    id: chat.nextMessageId++,
    fromId: input.fromId,
    date: world.clock.now(),
    kind: input.kind ?? 'user',
    text: input.text ?? null,
    armored: input.armored ?? null,
    replyTo:
      typeof input.replyTo === 'number' && chat.messages.has(input.replyTo) ? input.replyTo : null,
    markup: input.markup ?? null,
    media: input.media ?? [],
    editedAt: null,
  }
  chat.messages.set(message.id, message)
  const sender = chat.members.get(message.fromId)
  if (sender !== undefined) sender.wroteAt = message.date
  const author = world.bots.get(message.fromId)
  if (author !== undefined) stopTyping(world, chat, author)
  const notice = message.kind === 'user' ? null : message.kind
  world.emit({ kind: 'message', ...idsOf(chat, message), notice })
  for (const bot of botsIn(world, chat)) {
    if (receives(bot, chat, message, input.addressed ?? [])) {
      bot.queue.push({ kind: 'message', message: messageView(world, { chat, message, bot }) })
    }
  }
  return message
}

const idsOf = (chat: ChatState, { id, fromId }: StoredMessage) => ({
  chatId: chat.id,
  messageId: id,
  fromId,
})

/**
 * Whether a bot gets an update. In a private chat it gets everything that the person writes;
 * elsewhere messages addressed to it, or everything when its privacy mode is off. It gets the
 * notice that it joined, and nothing else of its own.
 */
function receives(
  bot: BotState,
  chat: ChatState,
  message: StoredMessage,
  addressed: readonly number[],
): boolean {
  if (message.fromId === bot.id) return message.kind === 'joined'
  if (chat.kind === 'private' || !bot.privacyMode) return true
  if (message.kind !== 'user') return false
  const quoted = message.replyTo === null ? undefined : chat.messages.get(message.replyTo)
  if (quoted?.fromId === bot.id && quoted.kind === 'user') return true
  if (message.armored !== null) return addressed.includes(bot.id)
  return isAddressed(message.text ?? '', bot)
}

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
  world.emit({ kind: 'edited', ...idsOf(chat, message) })
}

/** Deletes a message and its files, for everybody and for good. Bots get no update. */
export function applyDeletion(world: World, chat: ChatState, message: StoredMessage): void {
  chat.messages.delete(message.id)
  for (const { id } of message.media) world.files.delete(id)
  world.emit({ kind: 'deleted', chatId: chat.id, messageId: message.id })
}
