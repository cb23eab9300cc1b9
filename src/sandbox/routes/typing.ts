import { FIXED_LIMITS } from '../../api/limits.ts'
import { OpenTypingBody } from '../../api/send.ts'
import { apiError } from '../api-error.ts'
import { findChat, pathId } from '../rules/find.ts'
import { parties } from '../rules/mode.ts'
import { mayWrite, membershipOf } from '../rules/memberships.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { parseInput, type RouteHandler } from './call.ts'

/** How long phones show an indicator. */
const SHOWN_MS = 5000

/** POST /chats/{chatId}/typing: sends at most one indicator per chat in 3 seconds. */
export const sendTyping: RouteHandler = ({ world, bot, params, body }) => {
  const { typing = true } = parseInput(OpenTypingBody, body === undefined ? {} : body)
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (!mayWrite(chat, membershipOf(world, chat, bot.id))) {
    throw apiError('forbidden', 'the bot may not write in this chat')
  }
  const sent =
    reachable(world, chat, bot) && (typing ? show(world, chat, bot) : clear(world, chat, bot))
  return { result: { sent } }
}

function reachable(world: World, chat: ChatState, bot: BotState): boolean {
  if (chat.kind !== 'private') return true
  const { person } = parties(world, chat)
  return !person.gone && !person.blocked.includes(bot.id)
}

function show(world: World, chat: ChatState, bot: BotState): boolean {
  const now = world.clock.now()
  const last = bot.typing.get(chat.id)
  if (last !== undefined && now - last.sentAt < FIXED_LIMITS.typingIntervalMs) return false
  bot.typing.set(chat.id, { sentAt: now, showing: true })
  world.emit({ kind: 'typing', chat, botId: bot.id, typing: true })
  return true
}

/** Clears an indicator that phones still show. It counts towards no limit. */
function clear(world: World, chat: ChatState, bot: BotState): boolean {
  const last = bot.typing.get(chat.id)
  if (last?.showing !== true || world.clock.now() - last.sentAt > SHOWN_MS) return false
  last.showing = false
  world.emit({ kind: 'typing', chat, botId: bot.id, typing: false })
  return true
}
