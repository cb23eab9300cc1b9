import { FIXED_LIMITS } from '../../api/limits.ts'
import type { BotState, WebhookState } from '../state.ts'
import type { Mailbox } from '../updates/mailbox.ts'
import type { World } from '../world.ts'
import { deliver } from './deliver.ts'

const { webhookBackoffFirstMs, webhookBackoffMaxMs, webhookFailuresToTell } = FIXED_LIMITS

/**
 * Delivers a bot's updates one by one and in order until its webhook is removed: what failed is
 * tried again first, after a wait that doubles from 1 second to 1 hour on the sandbox's clock.
 */
export async function pump(world: World, bot: BotState, webhook: WebhookState): Promise<void> {
  const { signal } = webhook.stop
  while (!signal.aborted) {
    const update = bot.status === 'active' ? bot.mailbox.list(1)[0] : undefined
    if (update === undefined) {
      await changed(bot.mailbox, signal)
      continue
    }
    const error = await deliver(world, { webhook, update })
    if (signal.aborted) return
    if (error === null) {
      Object.assign(webhook, { failures: 0, lastError: null, nextAttemptAt: null })
      bot.mailbox.confirm(update.updateId + 1)
    } else {
      await backOff(world, bot, { webhook, error })
    }
  }
}

async function backOff(
  world: World,
  bot: BotState,
  { webhook, error }: { webhook: WebhookState; error: string },
): Promise<void> {
  webhook.failures++
  webhook.lastError = error
  if (webhook.failures === webhookFailuresToTell) {
    bot.ownerNotices.push({ at: world.clock.now(), kind: 'webhook_failing' })
  }
  const doubled = webhookBackoffFirstMs * 2 ** (webhook.failures - 1)
  const waitMs = Math.min(doubled, webhookBackoffMaxMs)
  webhook.nextAttemptAt = world.clock.now() + waitMs
  await world.clock.wait(waitMs, webhook.stop.signal)
}

function changed(mailbox: Mailbox, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stopWaking()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stopWaking = mailbox.onWake(done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
