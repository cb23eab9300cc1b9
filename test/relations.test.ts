/** Constants that stand in a relation: each relation is a sentence, and holds. */
import { expect, test } from 'vitest'
import { FIXED_LIMITS, LIMITS } from '../src/api/limits.ts'
import { MAX_OLD_KEYS } from '../src/config/rules.ts'
import { SOCKET_PATH_BYTES } from '../src/util/local-door.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { ANSWER_MS as COMMAND_WAITS_MS } from '../src/operators/client.ts'
import { FLOOR_MS } from '../src/operators/keys.ts'
import { MAX_ARMORED_BYTES, MAX_REQUEST_BYTES } from '../src/operators/protocol.ts'
import { MAX_SOCKET_PATH_BYTES } from '../src/operators/socket/location.ts'
import { DOOR_BOUNDS } from '../src/http/bounds.ts'
import { RETENTION_MS } from '../src/kernel/opening/seen-rules.ts'
import { SEEN_FOR_MS } from '../src/kernel/opening/replay-memory.ts'
import { RETRY_MAX_MS } from '../src/keys/life/any-time.ts'
import { PUTS_MAX } from '../src/kernel/own-key/publication-rules.ts'
import { SKEW_MAX_MS } from '../src/kernel/clocks.ts'
import { JUST_NOW_MS } from '../src/kernel/wall/grounds.ts'
import { HOLD_MAX_MS } from '../src/keys/driver.ts'
import { MAX_OPENING } from '../src/keys/keyring.ts'
import { BACKDATE_MS } from '../src/keys/make-key.ts'
import { SKEW_MAX_MS as SKEW_OF_HEALTH_MS } from '../src/observe/clock-skew.ts'
import { LOOK_MS, RESTING_LOOK_MS } from '../src/observe/service-watch.ts'
import * as watch from '../src/observe/service-watch.ts'
import { BOUNDS } from '../src/openpgp/bounds.ts'
import { DEADLINES_MS } from '../src/openpgp/library/library.ts'
import { MOST_RECIPIENTS } from '../src/openpgp/size.ts'
import { STEP_WAIT_MS, WAIT_MAX_MS as FENCE_WAITS_MS } from '../src/store/postgres/send-fence.ts'
import * as database from '../src/store/postgres/times.ts'
import { KEPT_MS as OUTCOMES_KEPT_MS } from '../src/store/outcomes.ts'
import { BATCH_TIMES } from '../src/translate/batch.ts'
import { LONGEST_POLL_S } from '../src/updates/queue-reader.ts'
import { EVICTED_MAX_MS } from '../src/updates/update-poller.ts'
import { QUIET_MS, SLACK_MS } from '../src/updates/poll-watch.ts'
import { WAIT_MAX_MS as TURN_WAITS_MS } from '../src/updates/poll-turn.ts'
import { UPSTREAM_LIMITS } from '../src/service/limits.ts'
import { LOOKUP_MS, PROBE_MS, PUBLISH_MS } from '../src/wiring/link.ts'
import { SPOOL_MAX_BYTES } from '../src/wiring/media.ts'
import { NEEDED_MS } from '../src/wiring/probes.ts'

/** What a bot usually waits for an answer. */
const BOT_WAITS_MS = 30_000
/** What readiness may be behind (README of `observe`). */
const READINESS_MS = 15_000
/** The same for a bot at rest. */
const RESTING_READINESS_MS = 60_000
const POLL_MS = LONGEST_POLL_S * 1000
const OPEN_FILE_MS = 2 * DEADLINES_MS.attachment
/** Opening and verifying a message, each tried twice. */
const JUDGE_MS = 2 * 2 * DEADLINES_MS.usual

const RELATIONS: [sentence: string, left: number, is: '<' | '≤' | '=', right: number][] = [
  // locks of the database
  [
    'who had a lock stops before another gets it',
    database.PROVEN_MS,
    '<',
    database.SILENT_SESSION_MS,
  ],
  [
    'a session that holds locks is proven by each beat',
    database.BEAT_MS + database.ANSWER_MS,
    '<',
    database.PROVEN_MS,
  ],
  [
    'a loss is told of before a lock is believed no longer',
    database.SLOW_MS + database.LOOK_MS + database.ANSWER_MS,
    '<',
    database.PROVEN_MS,
  ],
  [
    'a silent transaction ends before others give up on its locks',
    database.SILENT_TRANSACTION_MS,
    '<',
    database.LOCK_MS,
  ],
  [
    'a wait for a lock ends before its statement does',
    database.LOCK_MS,
    '<',
    database.STATEMENT_MS,
  ],
  [
    'the session waits for a lock less than for an answer',
    database.SESSION_LOCK_MS,
    '<',
    database.ANSWER_MS,
  ],
  [
    'a connection is made or lost within what proves one',
    database.CONNECT_MS,
    '<',
    database.PROVEN_MS,
  ],
  ['what was read just now is fresh', JUST_NOW_MS, '<', database.PROVEN_MS],
  [
    'a poll waits longer for its turn than a stopped sidecar keeps it',
    database.SILENT_SESSION_MS,
    '<',
    TURN_WAITS_MS,
  ],
  // the key
  ['sends are held for all tries to publish', PUTS_MAX * PUBLISH_MS, '≤', HOLD_MAX_MS],
  ['a held send is answered while its bot waits', HOLD_MAX_MS, '<', BOT_WAITS_MS],
  [
    'a send that waits for the fence is answered while its bot waits',
    FENCE_WAITS_MS,
    '<',
    BOT_WAITS_MS,
  ],
  ['a command waits longer than a step of another sidecar', STEP_WAIT_MS, '<', COMMAND_WAITS_MS],
  ['a key that is not published is seen in time', RETRY_MAX_MS * 1.2 + PROBE_MS, '<', READINESS_MS],
  ['a new key is not dated ahead where our clock may be', SKEW_MAX_MS, '<', BACKDATE_MS],
  ['a new key is valid wherever a clock is let be', BACKDATE_MS, '=', BOUNDS.clockToleranceMs],
  ['readiness and look-ups call the same clocks wrong', SKEW_OF_HEALTH_MS, '=', SKEW_MAX_MS],
  [
    'the keyring opens old keys beside the active and the pending one',
    MAX_OLD_KEYS + 2,
    '=',
    MAX_OPENING,
  ],
  // how long the service keeps updates
  ['the service keeps updates as long as we say', RETENTION_MS, '=', FIXED_LIMITS.retentionMs],
  ['words are remembered longer than the service keeps them', RETENTION_MS, '<', SEEN_FOR_MS],
  ['an old key that was used is needed as long as updates wait', RETENTION_MS, '≤', NEEDED_MS],
  ['a retired key is deleted unasked after no update can need it', RETENTION_MS, '<', FLOOR_MS],
  ['the outcome of an update is kept longer than the update', RETENTION_MS, '<', OUTCOMES_KEPT_MS],
  // readiness
  ['a service that is gone is reported in time', LOOK_MS + PROBE_MS, '<', READINESS_MS],
  [
    'a service that is gone is reported in time for a bot at rest',
    RESTING_LOOK_MS + PROBE_MS,
    '<',
    RESTING_READINESS_MS,
  ],
  ['a bot at rest is looked at less often', LOOK_MS, '<', RESTING_LOOK_MS],
  ['waits for a look begin below the longest', watch.FIRST_MS, '<', LOOK_MS],
  [
    'a store that mended is looked at before it counts as failing no more',
    watch.STORE_LOOK_MS,
    '<',
    watch.STORE_HELD_MS,
  ],
  // the door to the service, and the bot's
  [
    'a second attempt of a send fits',
    2 * UPSTREAM_LIMITS.sendFirstMs + UPSTREAM_LIMITS.retryPauseMs,
    '<',
    UPSTREAM_LIMITS.sendTotalMs,
  ],
  ['a send is answered while its bot waits', UPSTREAM_LIMITS.sendTotalMs, '<', BOT_WAITS_MS],
  [
    'a connection is made within an attempt',
    UPSTREAM_LIMITS.connectMs,
    '<',
    UPSTREAM_LIMITS.sendFirstMs,
  ],
  ['a call ends before its answer is due', UPSTREAM_LIMITS.callMs, '<', DOOR_BOUNDS.answerMs],
  ['a look-up ends before a call does', LOOKUP_MS, '<', UPSTREAM_LIMITS.callMs],
  [
    'a poll is opened before its answer is due',
    POLL_MS + UPSTREAM_LIMITS.pollSlackMs + BATCH_TIMES.budgetMs,
    '<',
    DOOR_BOUNDS.answerMs,
  ],
  [
    'a poll may be under way for as long as its answer counts',
    UPSTREAM_LIMITS.pollSlackMs,
    '=',
    SLACK_MS,
  ],
  ['the longest poll is longer than that of the spec', LIMITS.pollTimeoutMaxS * 1000, '<', POLL_MS],
  [
    'a poll moves nothing for less than a connection may be silent',
    POLL_MS + SLACK_MS,
    '<',
    DOOR_BOUNDS.silenceMs,
  ],
  ['who polls again does so before they count as stopped', EVICTED_MAX_MS, '<', QUIET_MS],
  ['headers end before their request does', DOOR_BOUNDS.headersMs, '<', DOOR_BOUNDS.requestMs],
  ['a file comes before its answer is due', UPSTREAM_LIMITS.mediaMs, '<', DOOR_BOUNDS.answerMs],
  [
    'a request may be as large as the service’s',
    DOOR_BOUNDS.bodyBytes,
    '=',
    FIXED_LIMITS.requestBytes,
  ],
  // opening
  ['a hostile message is given up within its batch', JUDGE_MS, '<', BATCH_TIMES.budgetMs],
  ['a look-up ends within the batch', LOOKUP_MS, '<', BATCH_TIMES.budgetMs],
  ['the first update has longer than its batch', BATCH_TIMES.budgetMs, '<', BATCH_TIMES.firstMs],
  [
    'the first update is opened before its answer is due',
    BATCH_TIMES.firstMs,
    '<',
    DOOR_BOUNDS.answerMs,
  ],
  ['a hostile file is given up before its answer is due', OPEN_FILE_MS, '<', DOOR_BOUNDS.answerMs],
  ['a certificate is judged within a look-up', 2 * DEADLINES_MS.usual, '<', LOOKUP_MS],
  // sizes
  ['a message is as long as a request', BOUNDS.messageChars, '=', FIXED_LIMITS.requestBytes],
  [
    'a certificate is as long as the service takes',
    BOUNDS.certificateChars,
    '=',
    FIXED_LIMITS.publicKeyMax,
  ],
  ['a message opens to at least the longest text', 4 * LIMITS.textMax, '<', BOUNDS.textBytes],
  ['no message holds more recipients than are read', MOST_RECIPIENTS, '<', BOUNDS.recipientPackets],
  [
    'twenty anonymous packets of the largest keys are tried',
    20 * (BOUNDS.rsaBitsMax / 8 + 12),
    '<',
    BOUNDS.anonymousBytes,
  ],
  [
    'an attachment is as large as the service takes',
    BOUNDS.attachmentBytes,
    '=',
    FIXED_LIMITS.mediaMaxBytes,
  ],
  [
    'a stored attachment is fetched whole',
    BOUNDS.storedAttachmentBytes,
    '=',
    UPSTREAM_LIMITS.maxMediaBytes,
  ],
  [
    'the library is given the smaller attachments',
    BOUNDS.libraryAttachmentBytes,
    '<',
    BOUNDS.attachmentBytes,
  ],
  [
    'attachments at rest have room for several',
    2 * BOUNDS.storedAttachmentBytes,
    '<',
    SPOOL_MAX_BYTES,
  ],
  [
    '`postern open` takes every message of the service',
    BOUNDS.messageChars,
    '<',
    MAX_ARMORED_BYTES,
  ],
  [
    'a request holds armored text with its line breaks escaped',
    (MAX_ARMORED_BYTES * 66) / 64,
    '<',
    MAX_REQUEST_BYTES,
  ],
  ['a socket’s path is one that settings may name', MAX_SOCKET_PATH_BYTES, '≤', SOCKET_PATH_BYTES],
]

const HOLDS = {
  '<': (left: number, right: number) => left < right,
  '≤': (left: number, right: number) => left <= right,
  '=': (left: number, right: number) => left === right,
}

test.each(RELATIONS)('%s', (sentence, left, is, right) => {
  expect(HOLDS[is](left, right), `${sentence}: ${left} ${is} ${right}`).toBe(true)
})

test('the least `key.retainDays` is longer than the service keeps updates', () => {
  const retain = SETTINGS.find(({ path }) => path === 'key.retainDays')
  const leastDays = [1, 2, 3, 4, 5].find((days) => retain?.schema.safeParse(days).success)
  expect((leastDays ?? 0) * 86_400_000).toBeGreaterThan(RETENTION_MS)
})
