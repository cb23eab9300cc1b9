/**
 * Subscriptions between parts: each statement reads "when this happens, do that". The other files
 * of folder build, and add no listener.
 */
import type { Settings } from '../config/settings.ts'
import type { OpenedKind } from '../store/key-usage.ts'
import type { Log } from '../logger.ts'
import * as record from '../observe/record.ts'
import * as show from '../observe/show.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { HolderState, MeasuredEngine } from '../openpgp/index.ts'
import { batchPerTick } from '../util/scheduling.ts'
import { alertForReason, alertForTrustChange } from '../observe/alerting.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import { describeNoResponse, readinessLog } from './reports/readiness-log.ts'
import * as events from './reports/events.ts'
import type { Updates } from './updates.ts'
import { pruneHourly } from './probes.ts'

/** Health, alerts and metrics follow calls to the service. Subscribe before the first call. */
export function subscribeLink(link: Link): void {
  const { health, alerts, metrics, watch } = link
  health.onChange((change) => {
    const alert = alertForReason(change)
    if (alert !== null) alerts.raise(alert)
  })
  alerts.onOutcome(({ way, outcome }) => metrics.count('postern_alerts_total', { way, outcome }))
  link.onIdentified((isOurs) => watch.identified(isOurs))
  link.onBot((bot) => watch.sawStatus(bot.status))
  link.onUpstream({
    answered: (answer) => watch.answered(answer),
    unreachable: (error) => watch.unreachable(describeNoResponse(error, link.url)),
    unauthorized: () => watch.unauthorized(),
    paused: () => watch.paused(),
    clock: (skewMs) => watch.clock(skewMs),
  })
  const recordAnswer = batchPerTick((answer: Parameters<typeof record.recordUpstreamAnswer>[1]) =>
    record.recordUpstreamAnswer(metrics, answer),
  )
  link.onUpstream({
    answered: recordAnswer,
    unreachable: ({ code }) => record.recordNoUpstreamAnswer(metrics, code),
    budget: ({ usedLastMinute, limit }) => {
      metrics.set('postern_own_calls_last_minute', {}, usedLastMinute)
      metrics.set('postern_own_calls_limit', {}, limit)
    },
  })
  show.showHealth(metrics, health)
  show.showWarnings(metrics, link.warnings)
}

/**
 * Health, alerts, metrics and log follow store, keys, chats and messages.
 * @returns disposing it ends the hourly work
 */
export function subscribeCore(core: Core, link: Link, log: Log): Disposable {
  const { store, engine, keyring, replayMemory } = core
  const { health, metrics, watch } = link
  const resources = new DisposableStack()
  store.onWritable((isWritable) => watch.writable(isWritable))
  store.onReachability((now) => watch.storeIs(now))
  const reportForged = () => events.reportForged(store.rowSeal, { ...link, log })
  reportForged()
  store.rowSeal.onForged(reportForged)
  subscribeEngine(engine, metrics, log)
  resources.defer(engine.onAvailable((isFine) => health.show('no-threads', isFine ? null : '')))
  const reportHolder = ({ isReachable, reason }: HolderState): void =>
    health.show('key-agent', isReachable ? null : reason)
  if (core.holder !== null) resources.defer(core.holder.onReachable(reportHolder))
  resources.defer(engine.onDifference(() => health.set('engine-differs', '')))
  subscribeKey(core, link)
  subscribeKnown(core, link, log)
  subscribeMessages(core, link, log)
  showCore(core, link)
  if (replayMemory !== null) resources.use(pruneHourly(replayMemory, () => keyring.oldestMs))
  return resources
}

/** Health, metrics and log follow the outbox. */
export function subscribeOutbox(outbox: Outbox, link: Link, log: Log): void {
  outbox.entries.onSettled((event) => events.reportSettled(event, { ...link, log }))
  outbox.onStuck((entry) => link.health.show('outbox-stuck', entry && `entry ${entry.id}`))
}

/** Health and metrics follow the publication of the key, and it the service. */
function subscribeKey({ publication, knownChats, keyring }: Core, link: Link): void {
  if (publication === null) return
  const { health, metrics, watch } = link
  if (publication.state === 'unpublished') health.set('key-unpublished', '')
  publication.onState((change) => events.reportPublication(change, health, knownChats))
  publication.onRotationAttempt((outcome) => metrics.count('postern_rotations_total', { outcome }))
  link.onBot((bot) => publication.observe(bot))
  keyring.onReread(() => publication.followKeys())
  watch.onRevived(() => publication.suspect())
  health.onChange(({ code, holds }) => {
    if (code === 'token' && !holds) publication.suspect()
  })
}

/** Alerts and log follow changes of trust; caches follow other sidecars. */
function subscribeKnown({ known, incoming, journalHeads }: Core, link: Link, log: Log): void {
  const { journal, trust, names, knownChats } = known
  journal.onChange((change) => {
    link.metrics.count('postern_trust_changes_total', { kind: change.kind })
    const alert = alertForTrustChange(change, trust.policies)
    if (alert !== null) {
      link.metrics.count('postern_trust_alarms_total', { alarm: alert.alert })
      link.alerts.raise(alert)
    }
    events.logTrustChange(change, log)
    journalHeads.noted(change)
  })
  incoming?.onStranger((stranger) => {
    // a store that cannot be written is reported by itself
    known.keyListHistory.recordUnknownSender(stranger).catch(() => undefined)
  })
  incoming?.onNamed((people) => {
    const remembered = people.filter(({ userId }) => trust.isRemembered(userId))
    names.saw(remembered).catch(() => undefined)
  })
  const reportFull = events.createFullReport({ ...link, log })
  knownChats.onReread((chatId) => {
    known.modes.forget(chatId)
    known.directory.forget(chatId)
  })
  knownChats.onFull(() => reportFull('chats'))
  trust.onFull(() => reportFull('people'))
}

/** Metrics, outcomes and log follow messages and attachments. */
function subscribeMessages(core: Core, { metrics, noteWork }: Link, log: Log): void {
  const { incoming, attachments, keyring } = core
  core.messages.onSealed(({ chatId, recipients, skipped, isNamed, ms }) => {
    if (skipped.length > 0) log.warn({ chatId, skipped }, 'sealed, but not to everybody')
    if (!isNamed) metrics.count('postern_seals_unnamed_total', {})
    metrics.count('postern_seals_total', {})
    metrics.observe('postern_seal_recipients', {}, recipients)
    metrics.count('postern_seal_skipped_recipients_total', {}, skipped.length)
    metrics.observe('postern_seal_duration_seconds', {}, ms / 1000)
  })
  core.clearFields.onSent((fields) => {
    for (const field of fields) metrics.count('postern_clear_fields_total', { field })
  })
  const noteKeyUse = (fingerprint: string, kind: OpenedKind): void => {
    core.keyUsage.note(fingerprint, kind)
    const state = keyring.find(fingerprint)?.state ?? 'destroyed'
    metrics.count('postern_opened_by_key_total', { state })
  }
  incoming?.onJudged((outcomes) => {
    if (outcomes.length > 0) noteWork()
    for (const { verdict, tookMs, openedWith } of outcomes) {
      metrics.count('postern_opens_total', { verdict })
      metrics.observe('postern_open_duration_seconds', {}, (tookMs ?? 0) / 1000)
      if (openedWith !== null) noteKeyUse(openedWith, 'message')
    }
    core.outcomes.received(outcomes)
  })
  incoming?.onLeaving((event) => {
    if (event.kind === 'left') metrics.count('postern_updates_left_total', { why: event.why })
    events.logLeaving(event, log)
  })
  core.replayMemory?.onIdsWentBack((event) => {
    log.warn(event, 'update ids went back: new updates come under ids that the bot has confirmed')
  })
  attachments.onDecrypted((fingerprint) => noteKeyUse(fingerprint, 'media'))
  attachments.onFetched(({ outcome, ms }) => {
    metrics.count('postern_media_total', { outcome })
    metrics.observe('postern_media_duration_seconds', {}, ms / 1000)
    noteWork()
  })
}

/** Metrics that are read when they are asked for. */
function showCore({ known, engine, keyring, publication, attachments }: Core, link: Link): void {
  const { metrics, upstream } = link
  show.showKeys(metrics, {
    keys: () => keyring.all,
    situation: () => publication?.remoteKeyState ?? null,
  })
  metrics.showValue('postern_media_openings', () => attachments.openings)
  metrics.showValue('postern_media_spool_bytes', () => attachments.spoolBytes)
  show.showLoad(metrics, {
    threads: () => engine.load().threads,
    connections: () => upstream.load(),
    caches: () => {
      const { lists, people } = known.directory.lookups
      const { certificates } = engine.load()
      const own = { 'key-lists': lists, people, modes: known.modes.lookups }
      return certificates === null ? own : { ...own, certificates }
    },
  })
}

/** The log follows readiness; earlier conditions are not logged. */
export function subscribeReadiness(link: Link, { publication }: Core, log: Log): void {
  const readiness = readinessLog({ ...link, publication, log })
  link.health.onChange(readiness.changed)
  link.onBot(readiness.look)
  publication?.onState(readiness.look)
}

const DIFFERS =
  'what native code did is not what openpgp.js finds; openpgp.js does all of the work until a restart'

/** Metrics and log follow the threads of the engine. */
export function subscribeEngine(engine: MeasuredEngine, metrics: Metrics, log: Log): void {
  engine.onThreadKilled(() => metrics.count('postern_workers_killed_total', {}))
  engine.onDisagreement(() =>
    log.error('a certificate was read differently from openpgp.js, which now reads all of them'),
  )
  engine.onCheck(({ work, result }) => {
    metrics.count('postern_engine_checks_total', { work, result })
    if (result === 'differs') log.fatal({ work }, DIFFERS)
  })
}

/** Health, metrics and log follow polls and deliveries; deliveries follow the reports of the service. */
export function subscribeUpdates(
  updates: Updates,
  { store }: Pick<Core, 'store'>,
  link: Link,
  { settings, log }: { settings: Settings; log: Log },
): void {
  const { health, metrics, watch } = link
  const { webhook, polls, backlog, reader } = updates
  const noted = { ...link, log }
  const reportAtService = (isThere: boolean): void =>
    events.reportServiceWebhook(isThere, webhook, health)

  store.onReachability((now) => (now === 'reachable' ? reader.wake() : reader.lose()))
  store.onWritable((isWritable) => {
    if (isWritable) reader.wake()
  })

  if (webhook.own !== null) events.reportFailingWebhook(webhook.own, health)
  webhook.onChange((change) => events.reportWebhookChange(change, noted))

  link.onBot((bot) => updates.noteServiceWebhook({ pending: bot.queued, url: bot.webhook?.url }))
  watch.onRevived(() => [webhook, updates.consumers].forEach((one) => one.start()))
  health.onChange(({ code, holds }) => {
    if (!holds && (code === 'token' || code === 'upstream' || code === 'paused')) reader.wake()
  })

  updates.onPolled((code) => {
    if (code === 'webhook_active') reportAtService(true)
    else if (code === null) reportAtService(false)
  })
  updates.onServiceWebhook((url) => {
    if (url === null) reportAtService(false)
    // To a bot without a key it brings readable updates, as it should.
    else if (settings.key.publish) reportAtService(true)
  })
  polls.onEvicted((by) => metrics.count('postern_polls_taken_over_total', { by }))
  polls.onContested((by) => events.reportSecondPoller(by, health))
  show.showBacklog(metrics, () => backlog.state)
  backlog.onState((look) => {
    const isReason = settings.admin.updatesWaiting === 'unready'
    events.reportBacklog(look, { ...noted, isReason })
  })

  updates.onDelivered((delivery) => {
    link.noteWork()
    record.recordDelivery(metrics, 'delivered', delivery.ms)
    events.reportDelivery(delivery, noted)
  })
  updates.onDeliveryFailed((failed) => {
    const { failure, ms, failures } = failed
    record.recordDelivery(metrics, failure.kind, ms, failures)
    backlog.markBehind()
    events.reportDeliveryFailure(failed, noted)
  })
  updates.consumers.queue.onShared(() => void webhook.renew())
  updates.consumers.queue.onLaggards((laggards) => events.reportLaggards(laggards, noted))
  logFailures(updates, log)
}

function logFailures(updates: Updates, log: Log): void {
  updates.onConsumerFailed(({ failure, waitMs }) =>
    log.warn({ outcome: failure.kind, waitSeconds: waitMs / 1000 }, 'a consumer got no update'),
  )
  updates.onReadFailed(({ code, waitMs }) =>
    log.warn({ code, waitSeconds: waitMs / 1000 }, 'updates could not be read'),
  )
  updates.onUnexpectedError((error) => log.error({ error }, 'reading updates failed'))
}
