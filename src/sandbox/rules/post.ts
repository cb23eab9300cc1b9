import { botIds } from '../views/accounts.ts'
import type { Markup } from '../../api/markup.ts'
import { messageView } from '../views/message.ts'
import type { BotState, ChatState, MediaState, MessageKind, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { isAddressed } from './addressing.ts'

/** Something to be written into a chat; whether it may be was decided before. */
export interface Post {
  chat: ChatState
  fromId: number
  kind?: MessageKind
  text?: string | null | undefined
  armored?: string | null | undefined
  /** A message of the same chat; a wrong id is dropped in silence. */
  replyTo?: number | null | undefined
  markup?: Markup | null
  media?: MediaState[]
  /** Bots that the sender's phone says it addresses; the service cannot read sealed words. */
  addressed?: readonly number[]
}

/** Writes it, tells every phone, and queues it for the bots that it is for. */
export function post(world: World, what: Post): StoredMessage {
  const { chat } = what
  const message: StoredMessage = {
    id: chat.nextMessageId++,
    fromId: what.fromId,
    date: world.clock.now(),
    kind: what.kind ?? 'user',
    text: what.text ?? null,
    armored: what.armored ?? null,
    replyTo:
      typeof what.replyTo === 'number' && chat.messages.has(what.replyTo) ? what.replyTo : null,
    markup: what.markup ?? null,
    media: what.media ?? [],
    editedAt: null,
  }
  chat.messages.set(message.id, message)
  const seat = chat.seats.get(message.fromId)
  if (seat !== undefined) seat.wroteAt = message.date
  stopTyping(world, chat, message.fromId)
  for (const id of botIds(world, chat)) {
    const bot = world.bots.get(id)
    if (bot !== undefined && isFor(bot, chat, message, what.addressed ?? [])) {
      bot.mailbox.push({ kind: 'message', message: messageView(world, { chat, message, bot }) })
    }
  }
  world.emit({ kind: 'message', chat, message })
  return message
}

/**
 * Who gets an update: in a private chat the bot gets everything the person writes, elsewhere what
 * is addressed to it, or everything when its owner switched privacy mode off. Notices of its own
 * arrival reach a bot in any case. Nobody hears themselves.
 */
function isFor(
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

function stopTyping(world: World, chat: ChatState, fromId: number): void {
  const typing = world.bots.get(fromId)?.typing.get(chat.id)
  if (typing?.showing !== true) return
  typing.showing = false
  world.emit({ kind: 'typing', chat, botId: fromId, typing: false })
}
