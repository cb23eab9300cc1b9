import { botsIn } from './find.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'

/** How long phones show an indicator. */
const SHOWN_MS = 5000

/** Sends an indicator, unless one was sent within `typingIntervalMs`. @returns whether it did */
export function startTyping(world: World, chat: ChatState, bot: BotState): boolean {
  const now = world.clock.now()
  const last = bot.typing.get(chat.id)
  if (last !== undefined && now - last.sentAt < world.limits.values.typingIntervalMs) return false
  bot.typing.set(chat.id, { sentAt: now, showing: true })
  world.emit({ kind: 'typing', chatId: chat.id, botId: bot.id, typing: true })
  stopWhenDue(world, chat, bot)
  return true
}

/** Lets the indicators end in time that already showed when the world was opened or restored. */
export function resumeTyping(world: World): void {
  for (const bot of world.bots.values()) {
    for (const [chatId, { showing }] of bot.typing) {
      const chat = world.chats.get(chatId)
      if (showing && chat !== undefined) stopWhenDue(world, chat, bot)
    }
  }
}

/** Clears the indicator that shows now once its time is over, unless another went out meanwhile. */
function stopWhenDue(world: World, chat: ChatState, bot: BotState): void {
  const sentAt = bot.typing.get(chat.id)?.sentAt
  if (sentAt === undefined) return
  const leftMs = sentAt + SHOWN_MS - world.clock.now()
  // oxlint-disable-next-line typescript/no-floating-promises -- a clock never rejects
  void world.clock.wait(leftMs, world.closing.signal).then((due) => {
    const isLast = bot.typing.get(chat.id)?.sentAt === sentAt
    return due && isLast ? stopTyping(world, chat, bot) : false
  })
}

/** Clears an indicator that phones still show. @returns whether one was showing */
export function stopTyping(world: World, chat: ChatState, bot: BotState): boolean {
  const last = bot.typing.get(chat.id)
  if (last?.showing !== true) return false
  last.showing = false
  world.emit({ kind: 'typing', chatId: chat.id, botId: bot.id, typing: false })
  return world.clock.now() - last.sentAt <= SHOWN_MS
}

/** Ids of the bots whose indicator phones show in a chat now. */
export const typingIn = (world: World, chat: ChatState): number[] =>
  botsIn(world, chat).flatMap(({ id, typing }) => (typing.get(chat.id)?.showing === true ? id : []))
