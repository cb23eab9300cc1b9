import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { isOwn } from '../errors.ts'
import { REASON_CODES } from './health.ts'
import type { Health } from './health.ts'

const PREFIX = 'postern_'
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const RECIPIENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/**
 * What is counted and timed, in a registry of its own. Labels come from closed sets, so that
 * nobody outside can make the registry grow. Times are taken in ms and shown in seconds.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests = this.#counter(
    'requests_total',
    'Requests of the bot, by route and status (0: it hung up first)',
    ['method', 'route', 'status'],
  )
  readonly #requestSeconds = this.#histogram(
    'request_duration_seconds',
    'Time from the end of a request’s headers to the end of its answer; polls wait in it',
    ['route'],
  )
  readonly #refusals = this.#counter('refusals_total', 'Refusals by Postern’s own code', ['code'])
  readonly #seals = this.#counter('seals_total', 'Messages sealed', [])
  readonly #sealSeconds = this.#histogram('seal_duration_seconds', 'Time to seal a message', [])
  readonly #recipients = this.#histogram(
    'seal_recipients',
    'People to whom a message was sealed',
    [],
    RECIPIENTS,
  )
  readonly #skipped = this.#counter(
    'seal_skipped_recipients_total',
    'People who got no message because their certificate cannot be used',
    [],
  )
  readonly #opens = this.#counter('opens_total', 'Incoming messages judged, by verdict', [
    'verdict',
  ])
  readonly #openSeconds = this.#histogram(
    'open_duration_seconds',
    'Time to open and judge a message',
    [],
  )
  readonly #workersKilled = this.#counter(
    'workers_killed_total',
    'Worker threads ended because a message overran its deadline',
    [],
  )
  readonly #trustChanges = this.#counter(
    'trust_changes_total',
    'Changes of people’s certificates, of key lists, and words of the operator on them, by kind',
    ['kind'],
  )
  readonly #alerts = this.#counter(
    'alerts_total',
    'Alerts to the operator, by way (command, url) and outcome (told, failed, dropped)',
    ['way', 'outcome'],
  )
  readonly #upstreamCalls = this.#counter(
    'upstream_calls_total',
    'Calls to the service that were answered, by whose call it was and class of status',
    ['owner', 'status'],
  )
  readonly #upstreamSeconds = this.#histogram(
    'upstream_duration_seconds',
    'Time until the service answered',
    ['owner'],
  )
  readonly #unanswered = this.#counter(
    'upstream_unanswered_total',
    'Calls to the service that got no usable answer, by own code',
    ['code'],
  )
  readonly #budgetUsed = this.#gauge(
    'own_calls_last_minute',
    'Calls of our own in the last minute, out of the bot’s allowance',
  )
  readonly #budgetLimit = this.#gauge('own_calls_limit', 'Calls of our own that a minute may have')
  readonly #deliveries = this.#counter(
    'webhook_deliveries_total',
    'Deliveries to the bot’s webhook, by what became of them',
    ['outcome'],
  )
  readonly #deliverySeconds = this.#histogram(
    'webhook_delivery_duration_seconds',
    'Time until the bot’s webhook answered, or was given up',
    [],
  )
  readonly #webhookFailures = this.#gauge(
    'webhook_failures',
    'Deliveries to the bot’s webhook that failed in a row',
  )
  readonly #waiting = this.#gauge(
    'updates_waiting',
    'Updates that wait at the service, as it last said; beyond 10,000 it drops the oldest',
  )
  readonly #oldest = this.#gauge(
    'updates_oldest_seconds',
    'How long the oldest of them has been waiting; after 72 hours it is dropped',
  )
  readonly #evictions = this.#counter(
    'polls_taken_over_total',
    'Polls that were ended by another poll of this bot, by where that came from',
    ['by'],
  )

  /** @param health shown as `postern_ready` and, reason by reason, `postern_reason` */
  constructor(health: Health) {
    collectDefaultMetrics({
      register: this.registry,
      prefix: PREFIX,
      eventLoopMonitoringPrecision: 20,
    })
    this.#gauge('ready', '1 when nothing keeps the sidecar from its job, like /readyz', {
      collect() {
        this.set(health.ready ? 1 : 0)
      },
    })
    this.#gauge('reason', '1 for each reason why the sidecar is not ready', {
      labelNames: ['code'],
      collect() {
        const holding = new Set(health.reasons().map((reason) => reason.code))
        for (const code of REASON_CODES) this.set({ code }, holding.has(code) ? 1 : 0)
      },
    })
  }

  /** A request of the bot was answered; `route` is a pattern, `status` 0 when it hung up. */
  answered(o: { method: string; route: string; status: number; code?: string; ms: number }): void {
    this.#requests.inc({ method: o.method, route: o.route, status: String(o.status) })
    this.#requestSeconds.observe({ route: o.route }, o.ms / 1000)
    if (o.code !== undefined && isOwn(o.code)) this.#refusals.inc({ code: o.code })
  }

  /** A message was sealed to `recipients` people; `skipped` more could not be sealed to. */
  sealed(o: { recipients: number; skipped: number; ms: number }): void {
    this.#seals.inc()
    this.#recipients.observe(o.recipients)
    this.#skipped.inc(o.skipped)
    this.#sealSeconds.observe(o.ms / 1000)
  }

  /** An incoming message was judged; `verdict` is one of DESIGN's. */
  opened(o: { verdict: string; ms: number }): void {
    this.#opens.inc({ verdict: o.verdict })
    this.#openSeconds.observe(o.ms / 1000)
  }

  /** A worker thread overran its deadline. */
  workerKilled(): void {
    this.#workersKilled.inc()
  }

  /** Something changed about whom we seal to and believe; `kind` is one of the journal's. */
  trustChanged(kind: string): void {
    this.#trustChanges.inc({ kind })
  }

  /** An alert was told, could not be, or was one too many. */
  alerted(o: { way: string; outcome: string }): void {
    this.#alerts.inc(o)
  }

  /** The service answered; `own` when the sidecar asked for itself. */
  upstreamAnswered(o: { status: number; ms: number; own: boolean }): void {
    const owner = o.own ? 'sidecar' : 'bot'
    this.#upstreamCalls.inc({ owner, status: `${Math.floor(o.status / 100)}xx` })
    this.#upstreamSeconds.observe({ owner }, o.ms / 1000)
  }

  /** The service gave no usable answer; `code` is one of `postern_upstream_*`. */
  upstreamUnanswered(code: string): void {
    this.#unanswered.inc({ code: isOwn(code) ? code : 'other' })
  }

  /** What the sidecar has spent of the bot's calls. */
  budget(o: { usedLastMinute: number; limit: number }): void {
    this.#budgetUsed.set(o.usedLastMinute)
    this.#budgetLimit.set(o.limit)
  }

  /** A delivery to the bot's webhook ended; `failures` is how many have failed in a row by now. */
  delivered(o: { outcome: string; ms: number; failures: number }): void {
    this.#deliveries.inc({ outcome: o.outcome })
    this.#deliverySeconds.observe(o.ms / 1000)
    this.#webhookFailures.set(o.failures)
  }

  /** What waits at the service. */
  waiting(o: { pending: number | null; oldestMs: number | null }): void {
    this.#waiting.set(o.pending ?? 0)
    this.#oldest.set((o.oldestMs ?? 0) / 1000)
  }

  /** A poll was ended by another, which came from `here` or from `elsewhere`. */
  pollTakenOver(by: string): void {
    this.#evictions.inc({ by })
  }

  #counter(name: string, help: string, labelNames: string[]): Counter<string> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] })
  }

  #gauge(
    name: string,
    help: string,
    more: { labelNames?: string[]; collect?: (this: Gauge<string>) => void } = {},
  ): Gauge<string> {
    return new Gauge({ name: PREFIX + name, help, registers: [this.registry], ...more })
  }

  #histogram(name: string, help: string, labelNames: string[], buckets = SECONDS) {
    const registers = [this.registry]
    return new Histogram<string>({ name: PREFIX + name, help, labelNames, buckets, registers })
  }
}
