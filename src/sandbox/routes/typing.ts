import { OpenTypingBody } from '../../api/send.ts'
import { apiError } from '../api-error.ts'
import { findChat, pathId } from '../rules/find.ts'
import { parties } from '../rules/mode.ts'
import { mayWrite, membershipOf } from '../rules/memberships.ts'
import { startTyping, stopTyping } from '../rules/typing.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { parseInput, type RouteHandler } from './call.ts'

/** POST /chats/{chatId}/typing: sends at most one indicator per chat in 3 seconds. */
export const sendTyping: RouteHandler = ({ world, bot, params, body }) => {
  const { typing = true } = parseInput(OpenTypingBody, body === undefined ? {} : body)
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (!mayWrite(chat, membershipOf(world, chat, bot.id))) {
    throw apiError('forbidden', 'the bot may not write in this chat')
  }
  const sent =
    reachable(world, chat, bot) &&
    (typing ? startTyping(world, chat, bot) : stopTyping(world, chat, bot))
  return { result: { sent } }
}

function reachable(world: World, chat: ChatState, bot: BotState): boolean {
  if (chat.kind !== 'private') return true
  const { person } = parties(world, chat)
  return !person.gone && !person.blocked.includes(bot.id)
}
