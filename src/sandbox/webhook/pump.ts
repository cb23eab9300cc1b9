import { FIXED_LIMITS } from '../../api/limits.ts'
import { tellOwner } from '../rules/bots.ts'
import type { BotState } from '../state.ts'
import type { Mailbox } from '../updates/mailbox.ts'
import type { World } from '../world.ts'
import { deliver } from './deliver.ts'

const { webhookBackoffFirstMs, webhookBackoffMaxMs, webhookFailuresToTell } = FIXED_LIMITS

/**
 * Delivers a bot's updates one by one and in order until told to stop: what failed is tried again
 * first, after a wait that doubles from 1 second to 1 hour on the sandbox's clock.
 */
export async function pump(world: World, bot: BotState, stop: AbortSignal): Promise<void> {
  const waitMs = (bot.webhook?.nextAttemptAt ?? 0) - world.clock.now()
  if (waitMs > 0) await world.clock.wait(waitMs, stop)
  while (!stop.aborted && bot.webhook !== null) {
    const update = bot.status === 'active' ? bot.mailbox.list(1)[0] : undefined
    if (update === undefined) {
      await changed(bot.mailbox, stop)
      continue
    }
    // An update that went out must still be there under its id when this process dies.
    await world.keep.settled().catch(() => undefined)
    const error = await deliver(world, { webhook: bot.webhook, update, stop })
    if (stop.aborted) return
    if (error === null) {
      bot.webhook = { ...bot.webhook, failures: 0, lastError: null, nextAttemptAt: null }
      bot.mailbox.confirm(update.updateId + 1)
    } else {
      await backOff(world, bot, { error, stop })
    }
  }
}

async function backOff(
  world: World,
  bot: BotState,
  { error, stop }: { error: string; stop: AbortSignal },
): Promise<void> {
  if (bot.webhook === null) return
  const failures = bot.webhook.failures + 1
  const waitMs = Math.min(webhookBackoffFirstMs * 2 ** (failures - 1), webhookBackoffMaxMs)
  const nextAttemptAt = world.clock.now() + waitMs
  bot.webhook = { ...bot.webhook, failures, lastError: error, nextAttemptAt }
  if (failures === webhookFailuresToTell) tellOwner(world, bot, 'webhook_failing')
  await world.clock.wait(waitMs, stop)
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
