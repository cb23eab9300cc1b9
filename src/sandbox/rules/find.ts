import { no } from '../failure.ts'
import type { BotState, ChatState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'

/** An id in a path; null when it is no integer, in which case it names nothing. */
export function pathId(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : null
}

/** The chat, when the bot is in it. @throws ServiceNo `chat_not_found`, the same for both */
export function findChat(world: World, bot: BotState, id: number | null): ChatState {
  const chat = id === null ? undefined : world.chats.get(id)
  if (chat === undefined || !chat.seats.has(bot.id)) {
    throw no('chat_not_found', 'no such chat, or the bot is not in it')
  }
  return chat
}

/** @throws ServiceNo `message_not_found`, also for what was there before the bot arrived */
export function findMessage(chat: ChatState, bot: BotState, id: number | null): StoredMessage {
  const message = id === null ? undefined : chat.messages.get(id)
  const first = chat.seats.get(bot.id)?.firstMessageId ?? Infinity
  if (message === undefined || message.id < first) {
    throw no('message_not_found', 'no such message in this chat')
  }
  return message
}

/** Whether two accounts sit in one chat. */
export function shareChat(world: World, one: number, other: number): boolean {
  for (const chat of world.chats.values()) {
    if (chat.seats.has(one) && chat.seats.has(other)) return true
  }
  return false
}
