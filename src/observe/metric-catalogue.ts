/**
 * Every metric of Postern's own. `Metrics` registers what stands here; the table of this folder's
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
   * Labels, each with its values, or `ANY`. Values come from closed sets in either case: nobody
   * outside can make a metric grow.
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
const KEY_SITUATIONS = ['equal', 'pending', 'older', 'foreign', 'none', 'first'] as const
const ROTATION_OUTCOMES = [
  'done',
  'abandoned',
  'refused',
  'unanswered',
  'unconfirmed',
  'not-made',
] as const

export const METRICS = {
  postern_requests_total: {
    type: 'counter',
    help: 'Requests of the bot, by route and status (0: it hung up first)',
    labels: { method: ANY, route: ANY, status: ANY },
  },
  postern_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the end of a request’s headers to the end of its answer; polls wait in it',
    labels: { route: ANY },
    buckets: SECONDS,
  },
  postern_refusals_total: {
    type: 'counter',
    help: 'Refusals by Postern’s own code',
    labels: { code: ANY },
  },
  postern_seals_total: {
    type: 'counter',
    help: 'Messages sealed',
    labels: {},
  },
  postern_seal_duration_seconds: {
    type: 'histogram',
    help: 'Time to seal a message',
    labels: {},
    buckets: SECONDS,
  },
  postern_seal_recipients: {
    type: 'histogram',
    help: 'People to whom a message was sealed',
    labels: {},
    buckets: RECIPIENTS,
  },
  postern_seal_skipped_recipients_total: {
    type: 'counter',
    help: 'People who got no message because their certificate cannot be used',
    labels: {},
  },
  postern_seals_unnamed_total: {
    type: 'counter',
    help: 'Messages whose signature names no recipients, because only so it fits or is verified',
    labels: {},
  },
  postern_clear_fields_total: {
    type: 'counter',
    help: 'Fields that the service never encrypts, sent into encrypted chats, by field',
    labels: { field: ['markup', 'text', 'url'] },
    startsAtZero: true,
  },
  postern_opens_total: {
    type: 'counter',
    help: 'Incoming messages judged, by verdict',
    labels: { verdict: ANY },
  },
  postern_open_duration_seconds: {
    type: 'histogram',
    help: 'Time to open and judge a message',
    labels: {},
    buckets: SECONDS,
  },
  postern_updates_left_total: {
    type: 'counter',
    help: 'Polls that ended before an update that was left at the service, by why: busy (calls are used up), failed (the service does not answer) or ours (Postern could not open or record it)',
    labels: { why: ['busy', 'failed', 'ours'] },
    startsAtZero: true,
  },
  postern_workers_killed_total: {
    type: 'counter',
    help: 'Worker threads ended because a message overran its deadline',
    labels: {},
    isOfProcess: true,
  },
  postern_trust_changes_total: {
    type: 'counter',
    help: 'Changes of people’s certificates, of key lists, and of the operator’s decisions on them, by kind',
    labels: { kind: ANY },
  },
  postern_trust_alarms_total: {
    type: 'counter',
    help: 'Alarms on whom the service lists with which certificate, by alarm',
    labels: { alarm: TRUST_ALARM_CODES },
    startsAtZero: true,
  },
  postern_alerts_total: {
    type: 'counter',
    help: 'Alerts to the operator, by way (command, url) and outcome (told, failed, dropped)',
    labels: { way: ['command', 'url'], outcome: ['told', 'failed', 'dropped'] },
  },
  postern_upstream_calls_total: {
    type: 'counter',
    help: 'Calls to the service that were answered, by whose call it was and class of status',
    labels: { owner: ['bot', 'sidecar'], status: ANY },
  },
  postern_upstream_duration_seconds: {
    type: 'histogram',
    help: 'Time until the service answered',
    labels: { owner: ['bot', 'sidecar'] },
    buckets: SECONDS,
  },
  postern_upstream_unanswered_total: {
    type: 'counter',
    help: 'Calls to the service that got no usable answer, by own code',
    labels: { code: ANY },
  },
  postern_own_calls_last_minute: {
    type: 'gauge',
    help: 'Calls of our own in the last minute, out of the bot’s allowance',
    labels: {},
  },
  postern_own_calls_limit: {
    type: 'gauge',
    help: 'Calls of our own that a minute may have',
    labels: {},
  },
  postern_webhook_deliveries_total: {
    type: 'counter',
    help: 'Deliveries to the bot’s webhook, by what became of them',
    labels: { outcome: ANY },
  },
  postern_webhook_delivery_duration_seconds: {
    type: 'histogram',
    help: 'Time until the bot’s webhook answered, or was given up',
    labels: {},
    buckets: SECONDS,
  },
  postern_webhook_failures: {
    type: 'gauge',
    help: 'Deliveries to the bot’s webhook that failed in a row',
    labels: {},
  },
  postern_updates_waiting: {
    type: 'gauge',
    help: 'Updates that wait at the service, as it last reported; beyond 10,000 it drops the oldest',
    labels: {},
  },
  postern_updates_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest of them has been waiting; after 72 hours it is dropped',
    labels: {},
  },
  postern_updates_dropped_in_seconds: {
    type: 'gauge',
    help: 'Time until the service drops the oldest of them; absent before it has waited for 24 hours',
    labels: {},
  },
  postern_polls_taken_over_total: {
    type: 'counter',
    help: 'Polls that were ended by another poll of this bot, by where that came from: here, a replica, elsewhere',
    labels: { by: ANY },
  },
  postern_ready: {
    type: 'gauge',
    help: '1 when nothing keeps the sidecar from its job, like /readyz',
    labels: {},
  },
  postern_reason: {
    type: 'gauge',
    help: '1 for each reason why the sidecar is not ready',
    labels: { code: REASON_CODES },
  },
  postern_warning: {
    type: 'gauge',
    help: '1 for each warning: what to know although the sidecar does its job',
    labels: { code: WARNING_CODES },
  },
  postern_ends_in_seconds: {
    type: 'gauge',
    help: 'Time until something ends: the bot’s key, an authority of upstream.caFile, an old key that is needed still; absent for what does not end',
    labels: { what: ['key', 'authority', 'needed-key'] },
  },
  postern_disk_free_bytes: {
    type: 'gauge',
    help: 'Room on the disk of dataDir; absent while it is not known',
    labels: {},
    isOfProcess: true,
  },
  postern_memory_used_ratio: {
    type: 'gauge',
    help: 'The part that is used of the memory or the heap that the process may have, whichever is more',
    labels: {},
    isOfProcess: true,
  },
  postern_rotations_total: {
    type: 'counter',
    help: 'Attempts at a rotation of the bot’s key, by what came of them',
    labels: { outcome: ROTATION_OUTCOMES },
    startsAtZero: true,
  },
  postern_opened_by_key_total: {
    type: 'counter',
    help: 'Messages opened, by the state of the key that opened them',
    labels: { state: KEY_STATES },
  },
  postern_key_age_seconds: {
    type: 'gauge',
    help: 'Time since the active key was published; absent while there is none',
    labels: {},
  },
  postern_own_keys: {
    type: 'gauge',
    help: 'The bot’s own keys, by state',
    labels: { state: KEY_STATES },
  },
  postern_key_situation: {
    type: 'gauge',
    help: '1 for how the key that the service last showed compares with ours',
    labels: { situation: KEY_SITUATIONS },
  },
  postern_media_total: {
    type: 'counter',
    help: 'Attachments fetched, by verdict, stored (given as it is), or an error’s code',
    labels: { outcome: ANY },
  },
  postern_media_duration_seconds: {
    type: 'histogram',
    help: 'Time to fetch an attachment and open it',
    labels: {},
    buckets: MEDIA_SECONDS,
  },
  postern_media_openings: {
    type: 'gauge',
    help: 'Attachments that are being fetched and opened now',
    labels: {},
  },
  postern_media_spool_bytes: {
    type: 'gauge',
    help: 'What attachments take on the disk of dataDir',
    labels: {},
  },
  postern_threads_busy: {
    type: 'gauge',
    help: 'Threads that compute, by what they do',
    labels: { pool: ANY },
    isOfProcess: true,
  },
  postern_threads_waiting: {
    type: 'gauge',
    help: 'Jobs that wait for a thread',
    labels: { pool: ANY },
    isOfProcess: true,
  },
  postern_upstream_connections_busy: {
    type: 'gauge',
    help: 'Calls to the service under way, by pool',
    labels: { pool: ANY },
  },
  postern_upstream_connections_waiting: {
    type: 'gauge',
    help: 'Calls that wait for a connection',
    labels: { pool: ANY },
  },
  postern_cache_lookups_total: {
    type: 'counter',
    help: 'Look-ups in caches, by cache and whether the answer was there or had to be made',
    labels: { cache: ANY, outcome: ['hit', 'miss'] },
  },
} as const satisfies Record<string, MetricDefinition>

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
