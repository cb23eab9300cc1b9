import { nextCall } from '../../util/listeners.ts'
import { notifyOwner } from '../rules/bots.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'
import { deliverUpdate } from './deliver.ts'

/** Real time that `advance` leaves a receiver that did not answer the delivery before. */
const SILENT_PATIENCE_MS = 1000

/**
 * Delivers a bot's updates one by one and in order until `stop`. A failed update is retried before
 * any other, after a wait that doubles from 1 second to 1 hour on the sandbox's clock.
 */
async function runDeliveryLoop(world: World, bot: BotState, stop: AbortSignal): Promise<void> {
  const waitMs = (bot.webhook?.nextAttemptAt ?? 0) - world.clock.now()
  if (waitMs > 0) await world.clock.wait(waitMs, stop)
  const { receiverPatienceMs } = world.rules
  let patienceMs = receiverPatienceMs
  while (!stop.aborted && bot.webhook !== null) {
    const update = bot.status === 'active' ? bot.queue.list(1)[0] : undefined
    if (update === undefined) {
      await nextCall(bot.queue.onWake, stop)
      continue
    }
    const { webhook } = bot
    const error = await world.background.run(async () => {
      // An update that was delivered must still have its id after this process is killed.
      await world.persistence.flush().catch(() => undefined)
      return await deliverUpdate(world, { webhook, update, stop })
    }, patienceMs)
    if (stop.aborted) return
    const isSilent = error?.startsWith('no answer') === true
    patienceMs = isSilent ? Math.min(receiverPatienceMs, SILENT_PATIENCE_MS) : receiverPatienceMs
    if (error === null) {
      bot.webhook = { ...bot.webhook, failures: 0, lastError: null, nextAttemptAt: null }
      bot.queue.confirm(update.updateId + 1)
      world.emit({ kind: 'delivered', botId: bot.id, updateId: update.updateId })
    } else {
      await backOff(world, bot, { updateId: update.updateId, error, stop })
    }
  }
}

async function backOff(
  world: World,
  bot: BotState,
  { updateId, error, stop }: { updateId: number; error: string; stop: AbortSignal },
): Promise<void> {
  if (bot.webhook === null) return
  const { webhookBackoffFirstMs, webhookBackoffMaxMs, webhookFailuresToNotify } =
    world.limits.values
  const failures = bot.webhook.failures + 1
  const waitMs = Math.min(webhookBackoffFirstMs * 2 ** (failures - 1), webhookBackoffMaxMs)
  const nextAttemptAt = world.clock.now() + waitMs
  bot.webhook = { ...bot.webhook, failures, lastError: error, nextAttemptAt }
  world.emit({ kind: 'failed', botId: bot.id, updateId, error, nextAttemptAt })
  if (failures === webhookFailuresToNotify) notifyOwner(world, bot, 'webhook_failing')
  await world.clock.wait(waitMs, stop)
}

/** Sets or replaces a bot's webhook. Deliveries begin at once; a poll in progress ends. */
export function setWebhook(world: World, bot: BotState, o: { url: string; secret: string | null }) {
  bot.webhook = { ...o, failures: 0, lastError: null, nextAttemptAt: null }
  bot.queue.endPoll?.()
  startDelivering(world, bot)
}

/** Starts deliveries to the bot's webhook; earlier ones end. */
export function startDelivering(world: World, bot: BotState): void {
  bot.delivering?.abort()
  const delivering = new AbortController()
  bot.delivering = delivering
  const stop = AbortSignal.any([delivering.signal, world.closing.signal])
  // oxlint-disable-next-line typescript/no-floating-promises -- the loop lasts as long as its webhook
  void runDeliveryLoop(world, bot, stop)
}

/** Ends deliveries and forgets the webhook. A delivery in progress is aborted; its update stays queued. */
export function removeWebhook(bot: BotState): void {
  bot.delivering?.abort()
  bot.delivering = undefined
  bot.webhook = null
}
