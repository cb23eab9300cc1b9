import { apiError } from '../api-error.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'

/** An id in a path, or null when it is no integer. */
export const pathId = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null

/** @throws SandboxApiError `chat_not_found`, whether there is no such chat or the bot is not in it */
export function findChat(world: World, bot: BotState, id: number | null): ChatState {
  const chat = id === null ? undefined : world.chats.get(id)
  if (chat === undefined || !chat.members.has(bot.id)) {
    throw apiError('chat_not_found', 'no such chat, or the bot is not in it')
  }
  return chat
}

/** @throws SandboxApiError `message_not_found` */
export function findMessage(chat: ChatState, id: number | null): StoredMessage {
  const message = id === null ? undefined : chat.messages.get(id)
  if (message === undefined) throw apiError('message_not_found', 'no such message in this chat')
  return message
}

/** Whether two accounts are members of the same chat. */
export const haveCommonChat = (world: World, one: number, other: number): boolean =>
  [...world.chats.values()].some(({ members }) => members.has(one) && members.has(other))

/** A person or a bot. @throws Error when nobody has the id */
export function accountView(world: World, id: number) {
  const person = world.people.get(id)
  if (person !== undefined) {
    const { username, firstName, lastName } = person
    return { id, username, firstName, lastName, isBot: false }
  }
  const bot = world.bots.get(id)
  if (bot === undefined) throw new Error(`nobody has the id ${id}`)
  return { id, username: bot.username, firstName: bot.name, lastName: null, isBot: true }
}

/** The bots in a chat. */
export const botsIn = (world: World, chat: ChatState): BotState[] =>
  [...chat.members.keys()].flatMap((id) => world.bots.get(id) ?? [])

/** The people in a chat. */
export const peopleIn = (world: World, chat: ChatState): PersonState[] =>
  [...chat.members.keys()].flatMap((id) => world.people.get(id) ?? [])
