/**
 * Every metric of Postern's own. `Metrics` registers them; the table of this folder's
 * README and the test of the dashboard are made from it too.
 */
import { REASON_CODES } from './health.ts'
import { TRUST_ALARM_CODES } from './trust-alarms.ts'
import { WARNING_CODES } from './warnings.ts'

/** One metric. */
export interface MetricDefinition {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /**
   * Labels, each with its values, or `ANY`. Values are of closed sets in either case: no outsider
   * can make a metric grow.
   */
  labels: Readonly<Record<string, readonly string[] | typeof ANY>>
  /** Upper bounds, in the unit that the name ends with. */
  buckets?: readonly number[]
  /** Shows 0 for each value of its only label before the first is counted. */
  startsAtZero?: true
  /** Of the process: where there are several bots, it is none of theirs. */
  isOfProcess?: true
}

/** Marks a label whose values the caller knows: routes, codes, verdicts, kinds. */
const ANY = null

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const MEDIA_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 75]
const RECIPIENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

const KEY_STATES = ['pending', 'active', 'retired', 'destroyed'] as const

const NONE = {}

type LabelSet = MetricDefinition['labels']
type Marks = Pick<MetricDefinition, 'startsAtZero' | 'isOfProcess'>

const metric =
  <Type extends 'counter' | 'gauge'>(type: Type, marks: Marks = {}) =>
  <const L extends LabelSet = typeof NONE>(help: string, labels = NONE as L) => {
    return { type, help, labels, ...marks }
  }

const counter = metric('counter')
const counterFromZero = metric('counter', { startsAtZero: true })
const gauge = metric('gauge')
const processCounter = metric('counter', { isOfProcess: true })
const processGauge = metric('gauge', { isOfProcess: true })

const histogram = <const L extends LabelSet = typeof NONE>(
  help: string,
  buckets: readonly number[],
  labels = NONE as L,
) => ({ type: 'histogram' as const, help, labels, buckets })

export const METRICS = {
  postern_requests_total: counter(
    'Requests of the bot, by route and status (0: it hung up first)',
    { method: ANY, route: ANY, status: ANY },
  ),
  postern_request_duration_seconds: histogram(
    'Time from the end of a request’s headers to the end of its answer; polls wait in it',
    SECONDS,
    { route: ANY },
  ),
  postern_refusals_total: counter('Refusals by Postern’s own code', { code: ANY }),
  postern_client_calls_total: counter('Calls of clients, by client and status', {
    client: ANY,
    status: ANY,
  }),
  postern_outbox_settled_total: counter('Calls that left the outbox, by what became of them', {
    outcome: ['sent', 'refused', 'held', 'replaced'],
  }),
  postern_consumer_updates_dropped_total: counter(
    'Updates that a consumer lost, since it was too far behind',
    { consumer: ANY },
  ),
  postern_seals_total: counter('Messages sealed'),
  postern_seal_duration_seconds: histogram('Time to seal a message', SECONDS),
  postern_seal_recipients: histogram('People to whom a message was sealed', RECIPIENTS),
  postern_seal_skipped_recipients_total: counter(
    'People who got no message because their certificate cannot be used',
  ),
  postern_seals_unnamed_total: counter(
    'Messages whose signature names no recipients, because only so it fits or is verified',
  ),
  postern_clear_fields_total: counterFromZero(
    'Fields that the service never encrypts, sent into encrypted chats, by field',
    { field: ['markup', 'text', 'url'] },
  ),
  postern_opens_total: counter('Incoming messages judged, by verdict', { verdict: ANY }),
  postern_open_duration_seconds: histogram('Time to open and judge a message', SECONDS),
  postern_updates_left_total: counterFromZero(
    'Polls that ended before an update that was left at the service, by why: busy (calls are used up), failed (the service does not answer) or ours (Postern could not open or record it)',
    { why: ['busy', 'failed', 'ours'] },
  ),
  postern_workers_killed_total: processCounter(
    'Worker threads ended because a message overran its deadline',
  ),
  postern_engine_checks_total: processCounter(
    'Checks of native OpenPGP by openpgp.js, by what was done and by result: same, differs, unchecked (openpgp.js could not do it) or skipped (too many waited)',
    { work: ['sealed', 'opened', 'verified'], result: ['same', 'differs', 'unchecked', 'skipped'] },
  ),
  postern_trust_changes_total: counter(
    'Changes of people’s certificates, of key lists, and of the operator’s decisions on them, by kind',
    { kind: ANY },
  ),
  postern_trust_alarms_total: counterFromZero(
    'Alarms on whom the service lists with which certificate, by alarm',
    { alarm: TRUST_ALARM_CODES },
  ),
  postern_trace_spans_total: counter('Spans of traces, by what became of them', {
    outcome: ['exported', 'failed', 'dropped'],
  }),
  postern_alerts_total: counter(
    'Alerts to the operator, by way (command, url) and outcome (told, failed, dropped)',
    { way: ['command', 'url'], outcome: ['told', 'failed', 'dropped'] },
  ),
  postern_upstream_calls_total: counter(
    'Calls to the service that were answered, by whose call it was and class of status',
    { owner: ['bot', 'sidecar'], status: ANY },
  ),
  postern_upstream_duration_seconds: histogram('Time until the service answered', SECONDS, {
    owner: ['bot', 'sidecar'],
  }),
  postern_upstream_unanswered_total: counter(
    'Calls to the service that got no usable answer, by own code',
    { code: ANY },
  ),
  postern_own_calls_last_minute: gauge(
    'Calls of our own in the last minute, out of the bot’s allowance',
  ),
  postern_own_calls_limit: gauge('Calls of our own that a minute may have'),
  postern_webhook_deliveries_total: counter(
    'Deliveries to the bot’s webhook, by what became of them',
    { outcome: ANY },
  ),
  postern_webhook_delivery_duration_seconds: histogram(
    'Time until the bot’s webhook answered, or was given up',
    SECONDS,
  ),
  postern_webhook_failures: gauge('Deliveries to the bot’s webhook that failed in a row'),
  postern_updates_waiting: gauge(
    'Updates that wait at the service, as it last reported; beyond 10,000 it drops the oldest',
  ),
  postern_updates_oldest_seconds: gauge(
    'How long the oldest of them has been waiting; after 72 hours it is dropped',
  ),
  postern_updates_dropped_in_seconds: gauge(
    'Time until the service drops the oldest of them; absent before it has waited for 24 hours',
  ),
  postern_polls_taken_over_total: counter(
    'Polls that were ended by another poll of this bot, by where that came from: here, a replica, elsewhere',
    { by: ANY },
  ),
  postern_ready: gauge('1 when nothing keeps the sidecar from its job, like /readyz'),
  postern_reason: gauge('1 for each reason why the sidecar is not ready', { code: REASON_CODES }),
  postern_warning: gauge('1 for each warning: what to know although the sidecar does its job', {
    code: WARNING_CODES,
  }),
  postern_ends_in_seconds: gauge(
    'Time until something ends: the bot’s key, an authority of upstream.caFile, an old key that is needed still; absent for what does not end',
    { what: ['key', 'authority', 'needed-key'] },
  ),
  postern_disk_free_bytes: processGauge(
    'Room on the disk of dataDir; absent while it is not known',
  ),
  postern_memory_used_ratio: processGauge(
    'The part that is used of the memory or the heap that the process may have, whichever is more',
  ),
  postern_rotations_total: counterFromZero(
    'Attempts at a rotation of the bot’s key, by what came of them',
    { outcome: ['done', 'abandoned', 'refused', 'unanswered', 'unconfirmed', 'not-made'] },
  ),
  postern_opened_by_key_total: counter(
    'Messages opened, by the state of the key that opened them',
    { state: KEY_STATES },
  ),
  postern_key_age_seconds: gauge(
    'Time since the active key was published; absent while there is none',
  ),
  postern_own_keys: gauge('The bot’s own keys, by state', { state: KEY_STATES }),
  postern_key_situation: gauge(
    '1 for how the key that the service last showed compares with ours',
    { situation: ['equal', 'pending', 'older', 'foreign', 'none', 'first'] },
  ),
  postern_media_total: counter(
    'Attachments fetched, by verdict, stored (given as it is), or an error’s code',
    { outcome: ANY },
  ),
  postern_media_duration_seconds: histogram(
    'Time to fetch an attachment and open it',
    MEDIA_SECONDS,
  ),
  postern_media_openings: gauge('Attachments that are being fetched and opened now'),
  postern_media_spool_bytes: gauge('What attachments take on the disk of dataDir'),
  postern_threads_busy: processGauge('Threads that compute, by what they do', { pool: ANY }),
  postern_threads_waiting: processGauge('Jobs that wait for a thread', { pool: ANY }),
  postern_upstream_connections_busy: gauge('Calls to the service under way, by pool', {
    pool: ANY,
  }),
  postern_upstream_connections_waiting: gauge('Calls that wait for a connection', { pool: ANY }),
  postern_cache_lookups_total: counter(
    'Look-ups in caches, by cache and whether the answer was there or had to be made',
    { cache: ANY, outcome: ['hit', 'miss'] },
  ),
}

export type MetricName = keyof typeof METRICS

/** Names of one type of metric. */
export type MetricOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]

/** A value for each label of a metric. */
export type LabelsOf<Name extends MetricName> = {
  -readonly [Label in keyof (typeof METRICS)[Name]['labels']]: ValueOf<
    (typeof METRICS)[Name]['labels'][Label]
  >
}

type ValueOf<Values> = Values extends readonly (infer Value extends string)[] ? Value : string
