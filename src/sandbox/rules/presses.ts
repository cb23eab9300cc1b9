import type { BotState, ChatState, PressState, StoredMessage } from '../state.ts'
import { accountView } from './find.ts'
import { messageView } from '../views/message.ts'
import type { World } from '../world.ts'

/** How many presses a bot can still answer; for older ones it gets `callback_not_found`. */
const MAX_PRESSES = 10_000

/**
 * A person presses a button that has `callbackData`: a `callback_query` for the bot. A second
 * press of the same person on the same message while the first is open is the same press.
 */
export function press(
  world: World,
  o: { bot: BotState; chat: ChatState; message: StoredMessage; userId: number; data: string },
): PressState {
  const { bot, chat, message, userId, data } = o
  const now = world.clock.now()
  const { callbackWindowMs } = world.limits.values
  const ids = { botId: bot.id, userId, chatId: chat.id, messageId: message.id }
  const open = [...bot.presses.values()].find(
    ({ answer, pressedAt, ...earlier }) =>
      answer === null &&
      now - pressedAt <= callbackWindowMs &&
      Object.entries(ids).every(([name, id]) => earlier[name as keyof typeof ids] === id),
  )
  if (open !== undefined) return open
  const [oldest = ''] = bot.presses.keys()
  if (bot.presses.size >= MAX_PRESSES) bot.presses.delete(oldest)
  const pressed: PressState = { id: world.randomId(), ...ids, pressedAt: now, answer: null }
  bot.presses.set(pressed.id, pressed)
  bot.queue.push({
    kind: 'callback_query',
    callbackQuery: {
      id: pressed.id,
      from: accountView(world, userId),
      message: messageView(world, { chat, message, bot }),
      data,
    },
  })
  return pressed
}
