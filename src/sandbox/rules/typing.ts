import { FIXED_LIMITS } from '../../api/limits.ts'
import { botIds } from '../views/accounts.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'

/** How long phones show an indicator. */
const SHOWN_MS = 5000

/** Sends an indicator, unless one went out in the last 3 seconds. Says whether it did. */
export function startTyping(world: World, chat: ChatState, bot: BotState): boolean {
  const now = world.clock.now()
  const last = bot.typing.get(chat.id)
  if (last !== undefined && now - last.sentAt < FIXED_LIMITS.typingIntervalMs) return false
  bot.typing.set(chat.id, { sentAt: now, showing: true })
  world.emit({ kind: 'typing', chat, botId: bot.id, typing: true })
  void world.clock.wait(SHOWN_MS, world.closing.signal).then((due) => {
    const isLast = bot.typing.get(chat.id)?.sentAt === now
    return due && isLast ? stopTyping(world, chat, bot) : false
  })
  return true
}

/** Clears an indicator that phones still show. Says whether one was showing. */
export function stopTyping(world: World, chat: ChatState, bot: BotState): boolean {
  const last = bot.typing.get(chat.id)
  if (last?.showing !== true) return false
  last.showing = false
  world.emit({ kind: 'typing', chat, botId: bot.id, typing: false })
  return world.clock.now() - last.sentAt <= SHOWN_MS
}

/** Ids of the bots whose indicator phones show in a chat now. */
export function typingIn(world: World, chat: ChatState): number[] {
  const now = world.clock.now()
  return botIds(world, chat).filter((id) => {
    const last = world.bots.get(id)?.typing.get(chat.id)
    return last?.showing === true && now - last.sentAt < SHOWN_MS
  })
}
