import { FIXED_LIMITS } from '../../api/limits.ts'
import { TypingBody } from '../../api/send.ts'
import { no } from '../failure.ts'
import { findChat, pathId } from '../rules/find.ts'
import { parties } from '../rules/mode.ts'
import { maySpeak, seatOf } from '../rules/seats.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { read, type Handler } from './call.ts'

/** How long an indicator shows. */
const SHOWN_MS = 5000

/** POST /chats/{chatId}/typing: at most one indicator a chat goes out every 3 seconds. */
export const sendTyping: Handler = ({ world, bot, params, body }) => {
  const { typing = true } = read(TypingBody, body === undefined ? {} : body)
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (!maySpeak(chat, seatOf(world, chat, bot.id))) {
    throw no('forbidden', 'the bot may not write in this chat')
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

/** Clearing counts against nothing; it goes out only while something shows. */
function clear(world: World, chat: ChatState, bot: BotState): boolean {
  const last = bot.typing.get(chat.id)
  if (last?.showing !== true || world.clock.now() - last.sentAt > SHOWN_MS) return false
  last.showing = false
  world.emit({ kind: 'typing', chat, botId: bot.id, typing: false })
  return true
}
