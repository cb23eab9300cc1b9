import type { BotState } from '../state.ts'
import type { World } from '../world.ts'
import { pump } from './pump.ts'

/** Sets or replaces a bot's webhook; deliveries begin at once and a poll in progress ends. */
export function setWebhook(
  world: World,
  bot: BotState,
  o: { url: string; secret: string | null },
): void {
  bot.webhook = { ...o, failures: 0, lastError: null, nextAttemptAt: null }
  bot.mailbox.endPoll?.()
  startDelivering(world, bot)
}

/** Delivers to the webhook that is set, in place of whatever delivered before. */
export function startDelivering(world: World, bot: BotState): void {
  bot.delivering?.abort()
  const delivering = new AbortController()
  bot.delivering = delivering
  world.closing.signal.addEventListener('abort', () => delivering.abort(), {
    signal: delivering.signal,
  })
  void pump(world, bot, delivering.signal)
}

/** Ends deliveries; one under way is cut off and its update stays queued. */
export function removeWebhook(bot: BotState): void {
  bot.delivering?.abort()
  bot.delivering = null
  bot.webhook = null
}
