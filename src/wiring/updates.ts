/** How updates reach the bot: its webhook and who delivers to it, and what is said of all that. */
import { isObject } from '../api/common.ts'
import { FIXED_LIMITS } from '../api/limits.ts'
import type { Settings } from '../config/settings.ts'
import type { Log } from '../logger.ts'
import { Backlog, type BacklogLevel, type BacklogState } from '../updates/backlog.ts'
import { REAL_CLOCK, type Clock } from '../updates/clock.ts'
import { Courier } from '../updates/deliver.ts'
import { PollWatch, type Taker } from '../updates/poll-watch.ts'
import { Pump, type PumpParts } from '../updates/pump.ts'
import { Registration, type OwnWebhook } from '../updates/registration.ts'
import { Source } from '../updates/source.ts'
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
  /** The service told something about its own webhook. */
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
  const courier = new Courier({ ...rules, clock })
  const polls = new PollWatch({
    clock,
    evicted: (by) => metrics.pollTakenOver(by),
    contested: (by) => tellContested(link, log, by),
  })
  const backlog = new Backlog({
    clock,
    skewMs: () => watch.skewMs,
    delivers: () => registration.webhook !== null,
    ask: calls.me,
    judged: (state, before) => tellWaiting(link, log, { state, before }),
  })
  const polled = (code: string | null): void => {
    if (code === 'webhook_active') {
      health.set('webhook-at-service', registration.webhook === null ? '' : 'set past Postern')
    } else if (code === null) health.clear('webhook-at-service')
  }
  const parts = { upstream, incoming: core.incoming, clock, polls, backlog, polled }
  const makePump = (): Pump => {
    const unforeseen = (error: unknown): void => log.error({ error }, 'reading updates failed')
    const held = ({ code, waitMs }: { code: string; waitMs: number }): void =>
      log.warn({ code, waitSeconds: waitMs / 1000 }, 'updates could not be read')
    const sourceParts = { ...parts, limits: link.limits, held, unforeseen }
    const source = new Source(sourceParts, registration.delivered)
    const told = tellDeliveries(link, log, backlog)
    return new Pump({ source, courier, registration, clock, unforeseen, ...told })
  }
  const changed = (o: { webhook: OwnWebhook | null; takenOver: boolean }): void => {
    health.clear('webhook-failing')
    health.clear('webhook-at-service')
    const origin = o.webhook === null ? null : new URL(o.webhook.url).origin
    if (origin === null) log.info('the webhook is removed')
    else log.info({ origin, takenOver: o.takenOver }, 'the webhook is set')
  }
  const webhook = new Webhook({ upstream, registration, rules, polls, makePump, changed })
  const observe = (result: unknown): void => {
    if (!isObject(result)) return
    if (typeof result['pending'] === 'number') backlog.queued(result['pending'])
    if (result['url'] === null) health.clear('webhook-at-service')
    // To a bot without a key it brings readable updates, as it should.
    else if (settings.key.publish && typeof result['url'] === 'string') polled('webhook_active')
  }
  link.onBot((bot) => observe({ pending: bot.queued, url: bot.webhook?.url }))
  link.onRevived(() => webhook.start())
  link.onCleared((code) => {
    if (code === 'token' || code === 'upstream' || code === 'paused') webhook.nudge()
  })
  return {
    webhook,
    polls,
    backlog,
    polled,
    observe,
    start: () => {
      const { own } = webhook
      if (own !== null) tellFailing(link, own.failures, own.lastError)
      webhook.start()
      backlog.start()
    },
    async [Symbol.asyncDispose]() {
      await webhook[Symbol.asyncDispose]()
      backlog[Symbol.dispose]()
      polls[Symbol.dispose]()
      courier[Symbol.dispose]()
    },
  }
}

type Told = Pick<PumpParts, 'delivered' | 'failed'>

function tellDeliveries(link: Link, log: Log, backlog: Backlog): Told {
  const { metrics, health } = link
  return {
    delivered: ({ updateId, ms, after }) => {
      metrics.delivered({ outcome: 'delivered', ms, failures: 0 })
      log.debug({ updateId, ms: Math.round(ms) }, 'an update is delivered')
      if (after === 0) return
      health.clear('webhook-failing')
      log.info({ updateId, after }, 'the webhook works again')
    },
    failed: ({ updateId, ms, failure, failures, waitMs }) => {
      metrics.delivered({ outcome: failure.kind, ms, failures })
      backlog.fellBehind()
      const why = { updateId, why: failure.message, failures, waitSeconds: waitMs / 1000 }
      if (failures === FIXED_LIMITS.webhookFailuresToTell) {
        log.error(why, 'the webhook has failed ten times in a row')
      } else log.warn(why, 'a delivery to the webhook failed')
      tellFailing(link, failures, failure.message)
    },
  }
}

function tellFailing({ health }: Link, failures: number, lastError: string | null): void {
  if (failures < FIXED_LIMITS.webhookFailuresToTell) return
  health.set('webhook-failing', `${failures} in a row, the last: ${lastError ?? 'not known'}`)
}

function tellContested({ health }: Link, log: Log, by: Taker | null): void {
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

function tellWaiting(
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
