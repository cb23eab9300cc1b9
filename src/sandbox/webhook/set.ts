import type { BotState, WebhookState } from '../state.ts'
import type { World } from '../world.ts'
import { pump } from './pump.ts'

/** Sets or replaces a bot's webhook; deliveries begin at once and a poll in progress ends. */
export function setWebhook(
  world: World,
  bot: BotState,
  o: { url: string; secret: string | null },
): void {
  removeWebhook(bot)
  const webhook: WebhookState = {
    ...o,
    failures: 0,
    lastError: null,
    nextAttemptAt: null,
    stop: new AbortController(),
  }
  bot.webhook = webhook
  bot.mailbox.endPoll?.()
  world.closing.signal.addEventListener('abort', () => webhook.stop.abort(), {
    signal: webhook.stop.signal,
  })
  void pump(world, bot, webhook)
}

/** Ends deliveries; one under way is cut off and its update stays queued. */
export function removeWebhook(bot: BotState): void {
  bot.webhook?.stop.abort()
  bot.webhook = null
}
