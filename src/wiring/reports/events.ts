/** Health and log lines for events whose description needs more than a line. */
import { FIXED_LIMITS } from '../../api/limits.ts'
import type { KnownChats, PublicationState, TrustChange } from '../../kernel/index.ts'
import type { PublicationChange } from '../../keys/publication.ts'
import type { Log } from '../../logger.ts'
import type { Health, ReasonCode } from '../../observe/health.ts'
import { WARNINGS } from '../../observe/warnings.ts'
import type { SettledEntry } from '../../outbox/entry.ts'
import type { LeavingEvent } from '../../translate/deferral.ts'
import type { BacklogLevel, BacklogLook } from '../../updates/backlog.ts'
import type { Laggards } from '../../updates/shared-queue.ts'
import type { DeliveryLoopParts } from '../../updates/delivery-loop.ts'
import type { Stranger } from '../../updates/poll-watch.ts'
import { alertForFull } from '../../observe/alerting.ts'
import type { Webhook, WebhookChange } from '../../updates/webhook.ts'
import type { RowSeal } from '../../store/row-seal.ts'
import type { Link } from '../link.ts'
import { counted } from '../../printable.ts'

/** The targets of a report. */
type Channels = Pick<Link, 'health' | 'warnings' | 'alerts' | 'metrics'> & { log: Log }

const PUBLICATION_REASONS: Record<Exclude<PublicationState, 'published'>, ReasonCode> = {
  unpublished: 'key-unpublished',
  conflict: 'key-conflict',
  expired: 'key-expired',
  unprotected: 'bot-unprotected',
}

/** A bot without a key is ready when the operator allowed readable private chats. */
export function reportPublication(
  { state, detail }: PublicationChange,
  health: Health,
  { privateReadable }: Pick<KnownChats, 'privateReadable'>,
): void {
  for (const code of Object.values(PUBLICATION_REASONS)) {
    if (state === 'published' || PUBLICATION_REASONS[state] !== code) health.clear(code)
  }
  if (state === 'published' || (state === 'unprotected' && privateReadable)) {
    return health.clear('bot-unprotected')
  }
  health.set(PUBLICATION_REASONS[state], detail)
}

/** Lists of people are logged by their length: a line names no hundred of them. */
export function logTrustChange(change: TrustChange, log: Log): void {
  const { kind, detail, ...where } = change
  const summary = Object.entries(detail).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? value.length : value,
  ])
  log.warn({ change: kind, ...where, ...Object.fromEntries(summary) }, 'trust: something changed')
}

/** Logs an update that begins to wait at the service, and its later arrival. */
export function logLeaving(event: LeavingEvent, log: Log): void {
  const { kind, updateId, chatId, why } = event
  if (kind === 'came') {
    const waitedSeconds = Math.round(event.waitedMs / 1000)
    return log.info({ updateId, chatId, waitedSeconds }, 'an update left at the service came')
  }
  if (!event.isFirst) return
  log.warn(
    { updateId, chatId, why },
    why === 'ours'
      ? 'an update is left at the service, with all behind it: it cannot be opened or recorded'
      : 'an update is left at the service, with all behind it: its sender, chat or people cannot be looked up',
  )
}

/** Reports rows that somebody else has written into the store, the last of them by its key. */
export function reportForged({ forged }: RowSeal, { warnings, alerts, log }: Channels): void {
  if (forged.length === 0) return
  warnings.set('rows-forged', [...new Set(forged.map(({ table }) => table))].join(', '))
  alerts.raise({ alert: 'rows-forged', holds: true, ...WARNINGS['rows-forged'] })
  log.error({ ...forged.at(-1), count: forged.length }, 'a row has no MAC: it counts as none')
}

const FULL_EVERY_MS = 60_000

/** @returns a function that reports that nothing new is remembered; it logs once a minute at most */
export function createFullReport({ alerts, log }: Channels): (what: 'chats' | 'people') => void {
  let loggedMs = -Infinity
  return (what) => {
    alerts.raise(alertForFull(what))
    const nowMs = performance.now()
    if (nowMs - loggedMs < FULL_EVERY_MS) return
    loggedMs = nowMs
    log.error({ what }, 'no more can be remembered: new ones are refused')
  }
}

/** The service answers polls with 409 while it delivers to a webhook of its own. */
export function reportServiceWebhook(isThere: boolean, { own }: Webhook, health: Health): void {
  const detail = own === null ? '' : 'set past Postern'
  health.show('webhook-at-service', isThere ? detail : null)
}

export function reportWebhookChange(change: WebhookChange, { health, log }: Channels): void {
  const { webhook, takenOver } = change
  health.clear('webhook-failing')
  health.clear('webhook-at-service')
  if (webhook === null) log.info('the webhook is removed')
  else log.info({ origin: new URL(webhook.url).origin, takenOver }, 'the webhook is set')
}

type DeliveredUpdate = Parameters<DeliveryLoopParts['onDelivered']>[0]
type FailedDelivery = Parameters<DeliveryLoopParts['onFailed']>[0]

export function reportDelivery(delivered: DeliveredUpdate, { health, log }: Channels): void {
  const { updateId, ms, after } = delivered
  log.debug({ updateId, ms: Math.round(ms) }, 'an update is delivered')
  if (after === 0) return
  health.clear('webhook-failing')
  log.info({ updateId, after }, 'the webhook works again')
}

export function reportDeliveryFailure(failed: FailedDelivery, { health, log }: Channels): void {
  const { updateId, failure, failures, waitMs } = failed
  const why = { updateId, why: failure.message, failures, waitSeconds: waitMs / 1000 }
  log.warn(why, 'a delivery to the webhook failed')
  reportFailingWebhook({ failures, lastError: failure.message }, health)
}

type Failing = Pick<NonNullable<Webhook['own']>, 'failures' | 'lastError'>

/** Reports a failing webhook to health after enough failures in a row. */
export function reportFailingWebhook({ failures, lastError }: Failing, health: Health): void {
  if (failures < FIXED_LIMITS.webhookFailuresToNotify) return
  health.set('webhook-failing', `${failures} in a row, the last: ${lastError ?? 'not known'}`)
}

/** @param by null when nobody else polls any more */
export function reportSecondPoller(by: Stranger | null, health: Health): void {
  const where = by === 'here' ? 'through this sidecar' : 'past this sidecar'
  health.show('second-poller', by && where)
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** @param o `isReason`: setting `admin.updatesWaiting` turns the warning into a reason */
export function reportBacklog(
  { state, before, isHourLess }: BacklogLook,
  o: Pick<Channels, 'health' | 'warnings' | 'log'> & { isReason: boolean },
): void {
  const { level, pending, oldestMs, leftMs } = state
  const { health, warnings, log } = o
  const age = oldestMs === null ? '' : `, the oldest for ${inWords(oldestMs)}`
  const left = leftMs === null ? '' : `; the service drops it in ${inWords(leftMs)}`
  const detail = `${pending ?? 'many'} wait${age}${left}`
  warnings.show('updates-waiting', level === 'none' ? null : detail)
  const isWaiting = level === 'waiting' || (level === 'noticed' && o.isReason)
  health.show('updates-waiting', isWaiting ? detail : null)
  health.show('updates-expiring', level === 'expiring' ? detail : null)
  const waiting = { pending, oldestSeconds: inSeconds(oldestMs) }
  if (isHourLess) {
    log.warn({ ...waiting, droppedInSeconds: inSeconds(leftMs) }, 'the service will drop updates')
  }
  // Reasons are logged as readiness changes.
  const isWarned = (one: BacklogLevel): boolean => one === 'noticed' && !o.isReason
  if (level === before || !(isWarned(level) || isWarned(before))) return
  if (isWarned(level)) log.warn(waiting, 'updates wait for the bot')
  else if (level === 'none') log.info(waiting, 'updates do not wait any more')
}

const inSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1000))

const inWords = (ms: number): string =>
  ms < HOUR_MS ? `${(ms / MINUTE_MS).toFixed(1)} minutes` : `${(ms / HOUR_MS).toFixed(1)} hours`

/** Readiness by the consumers that will lose updates; counts and logs those that did. */
export function reportLaggards({ behind, dropped }: Laggards, to: Channels): void {
  const { health, metrics, log } = to
  for (const { name: consumer, count } of dropped) {
    metrics.count('postern_consumer_updates_dropped_total', { consumer }, count)
    log.error({ consumer, count }, 'a consumer was too far behind, and lost updates')
  }
  const names = behind.map(({ name, count }) => `${name}: ${counted(count, 'update')}`).join(', ')
  health.show('consumer-behind', names || null)
}

const LEVELS = { sent: 'info', replaced: 'debug', refused: 'warn', held: 'warn' } as const

/** Counts and logs a call that left the outbox, and how. */
export function reportSettled(event: SettledEntry, { metrics, log }: Channels): void {
  const { id: entry, state: outcome, chatId, code } = event
  metrics.count('postern_outbox_settled_total', { outcome })
  log[LEVELS[outcome]]({ entry, outcome, chatId, code }, 'left the outbox')
}
