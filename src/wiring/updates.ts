/** How updates reach the bot: its webhook and who delivers to it, and what is said of all that. */
import { isObject } from '../api/common.ts'
import { FIXED_LIMITS } from '../api/limits.ts'
import type { Settings } from '../config/settings.ts'
import type { Log } from '../logger.ts'
import { Backlog, type BacklogLevel, type BacklogState } from '../updates/backlog.ts'
import { REAL_CLOCK, type Clock } from '../updates/clock.ts'
import { WebhookClient } from '../updates/webhook-client.ts'
import { PollWatch, type Taker } from '../updates/poll-watch.ts'
import { DeliveryLoop, type DeliveryLoopParts } from '../updates/delivery-loop.ts'
import { Registration, type OwnWebhook } from '../updates/registration.ts'
import { UpdatePoller } from '../updates/update-poller.ts'
import { resolveHost } from '../updates/target.ts'
import { Webhook } from '../updates/webhook.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'

/** What surrounds the sidecar, for tests to stand in for. */
export interface Surroundings {
  clock: Clock
  resolveHost: (host: string) => Promise<string[]>
}

export interface Updates extends AsyncDisposable {
  webhook: Webhook
  polls: PollWatch
  backlog: Backlog
  /** A poll ended: with the service's code, or null when it gave updates. */
  polled: (code: string | null) => void
  /** Takes what the service said about its own webhook. */
  observe: (result: unknown) => void
  /** Begins to deliver, if there is where to. */
  start(): void
}

/** @throws OperatorError `store-corrupt` */
export async function createUpdates(
  { settings, log, surroundings }: { settings: Settings; log: Log; surroundings?: Surroundings },
  link: Link,
  core: Core,
): Promise<Updates> {
  const { clock, resolveHost: resolve } = surroundings ?? { clock: REAL_CLOCK, resolveHost }
  const { upstream, health, metrics, watch, calls } = link
  const rules = { allowHosts: settings.webhook.allowHosts ?? null, resolve }
  const registration = await Registration.load(core.store)
  const client = new WebhookClient({ ...rules, clock })
  const polls = new PollWatch({
    clock,
    onEvicted: (by) => metrics.pollTakenOver(by),
    onContested: (by) => reportContested(link, log, by),
  })
  const backlog = new Backlog({
    clock,
    skewMs: () => watch.skewMs,
    isDelivering: () => registration.webhook !== null,
    ask: calls.me,
    onState: (state, before) => reportWaiting(link, log, { state, before }),
  })
  const polled = (code: string | null): void => {
    if (code === 'webhook_active') {
      health.set('webhook-at-service', registration.webhook === null ? '' : 'set past Postern')
    } else if (code === null) health.clear('webhook-at-service')
  }
  const parts = { upstream, incoming: core.incoming, clock, polls, backlog }
  const makeLoop = (): DeliveryLoop => {
    const onUnexpectedError = (error: unknown): void =>
      log.error({ error }, 'reading updates failed')
    const onReadFailed = ({ code, waitMs }: { code: string; waitMs: number }): void =>
      log.warn({ code, waitSeconds: waitMs / 1000 }, 'updates could not be read')
    const listeners = { onPolled: polled, onReadFailed, onUnexpectedError }
    const pollerParts = { ...parts, ...listeners, limits: link.limits }
    const poller = new UpdatePoller(pollerParts, registration.delivered)
    const reports = reportDeliveries(link, log, backlog)
    return new DeliveryLoop({ poller, client, registration, clock, onUnexpectedError, ...reports })
  }
  const onChanged = (o: { webhook: OwnWebhook | null; takenOver: boolean }): void => {
    health.clear('webhook-failing')
    health.clear('webhook-at-service')
    const origin = o.webhook === null ? null : new URL(o.webhook.url).origin
    if (origin === null) log.info('the webhook is removed')
    else log.info({ origin, takenOver: o.takenOver }, 'the webhook is set')
  }
  const webhook = new Webhook({ upstream, registration, rules, polls, makeLoop, onChanged })
  const observe = (result: unknown): void => {
    if (!isObject(result)) return
    if (typeof result['pending'] === 'number') backlog.recordPending(result['pending'])
    if (result['url'] === null) health.clear('webhook-at-service')
    // To a bot without a key it brings readable updates, as it should.
    else if (settings.key.publish && typeof result['url'] === 'string') polled('webhook_active')
  }
  link.onBot((bot) => observe({ pending: bot.queued, url: bot.webhook?.url }))
  link.onRevived(() => webhook.start())
  link.onCleared((code) => {
    if (code === 'token' || code === 'upstream' || code === 'paused') webhook.wake()
  })
  return {
    webhook,
    polls,
    backlog,
    polled,
    observe,
    start: () => {
      const { own } = webhook
      if (own !== null) reportFailing(link, own.failures, own.lastError)
      webhook.start()
      backlog.start()
    },
    async [Symbol.asyncDispose]() {
      await webhook[Symbol.asyncDispose]()
      backlog[Symbol.dispose]()
      polls[Symbol.dispose]()
      client[Symbol.dispose]()
    },
  }
}

type DeliveryListeners = Pick<DeliveryLoopParts, 'onDelivered' | 'onFailed'>

function reportDeliveries(link: Link, log: Log, backlog: Backlog): DeliveryListeners {
  const { metrics, health } = link
  return {
    onDelivered: ({ updateId, ms, after }) => {
      metrics.delivered({ outcome: 'delivered', ms, failures: 0 })
      log.debug({ updateId, ms: Math.round(ms) }, 'an update is delivered')
      if (after === 0) return
      health.clear('webhook-failing')
      log.info({ updateId, after }, 'the webhook works again')
    },
    onFailed: ({ updateId, ms, failure, failures, waitMs }) => {
      metrics.delivered({ outcome: failure.kind, ms, failures })
      backlog.markBehind()
      const why = { updateId, why: failure.message, failures, waitSeconds: waitMs / 1000 }
      if (failures === FIXED_LIMITS.webhookFailuresToNotify) {
        log.error(why, 'the webhook has failed ten times in a row')
      } else log.warn(why, 'a delivery to the webhook failed')
      reportFailing(link, failures, failure.message)
    },
  }
}

function reportFailing({ health }: Link, failures: number, lastError: string | null): void {
  if (failures < FIXED_LIMITS.webhookFailuresToNotify) return
  health.set('webhook-failing', `${failures} in a row, the last: ${lastError ?? 'not known'}`)
}

function reportContested({ health }: Link, log: Log, by: Taker | null): void {
  if (by === null) {
    health.clear('second-poller')
    return log.info('nobody else polls any more')
  }
  const where = by === 'here' ? 'through this sidecar' : 'past this sidecar'
  health.set('second-poller', where)
  log.warn({ by }, 'somebody else polls for this bot')
}

const HOUR_MS = 3_600_000
const REASON_OF = { waiting: 'updates-waiting', expiring: 'updates-expiring' } as const

function reportWaiting(
  { health, metrics }: Link,
  log: Log,
  { state, before }: { state: BacklogState; before: BacklogLevel },
): void {
  const { level, pending, oldestMs } = state
  metrics.waiting(state)
  const age = oldestMs === null ? '' : `, the oldest for ${(oldestMs / HOUR_MS).toFixed(1)} hours`
  for (const [one, code] of Object.entries(REASON_OF)) {
    if (one === level) health.set(code, `${pending ?? 'many'} wait${age}`)
    else health.clear(code)
  }
  if (level === before) return
  const waiting = { pending, oldestSeconds: oldestMs === null ? null : Math.round(oldestMs / 1000) }
  if (level === 'expiring') log.error(waiting, 'updates are about to be dropped by the service')
  else if (level === 'waiting') log.warn(waiting, 'updates wait for the bot')
  else log.info(waiting, 'updates do not wait any more')
}
