/** What each event does to the other parts, with parts that are played. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { Health } from '../../src/observe/health.ts'
import { alertForFull, alertForReason, alertForTrustChange } from '../../src/reports/alerting.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { Link } from '../../src/wiring/link.ts'
import {
  subscribeCore,
  subscribeLink,
  subscribeReadiness,
  subscribeUpdates,
} from '../../src/wiring/subscriptions.ts'
import type { Updates } from '../../src/wiring/updates.ts'
import { PlayedParts } from './played-parts.ts'

/** Key, and whether it is one of ours that opens. */
const keyOf = (fingerprint: string, state: string, createdAtMs: number, isReady = true) => ({
  fingerprint,
  state,
  createdAtMs,
  publishedAtMs: null,
  unlocked: isReady ? {} : null,
})
const KEYS = [keyOf('a', 'active', 9), keyOf('b', 'retired', 7), keyOf('c', 'destroyed', 5, false)]

type Read = () => unknown

/** The link and the core of a sidecar. @param o parts that are not there, or are so */
function scene(o: { has?: boolean; publicationState?: string; privateReadable?: boolean } = {}) {
  const { has = true, publicationState = 'published', privateReadable = false } = o
  const parts = new PlayedParts()
  const shown = new Map<string, Read>()
  const show = (name: string, read: Read) => void shown.set(name, read)
  const log = parts.part('log')
  const health = parts.part('health', { ready: false, holds: (code: string) => code === 'store' })
  const link: Link = parts.part('link', {
    url: 'http://service',
    bot: () => null,
    health,
    alerts: parts.part('alerts'),
    metrics: parts.part('metrics', { show, showValue: show }),
    watch: parts.part('watch'),
    warnings: parts.part('warnings', { holds: (code: string) => code === 'key-ending' }),
    upstream: { load: () => ({ calls: { busy: 3, waiting: 4 } }) },
  })
  const knownChats = parts.part('knownChats', { privateReadable })
  const lookups = { lists: { hits: 1, misses: 2 }, people: { hits: 3, misses: 4 } }
  const core: Core = parts.part('core', {
    store: parts.part('store'),
    engine: parts.part('engine', {
      load: () => ({
        threads: { judge: { busy: 1, waiting: 2 } },
        certificates: has ? { hits: 7, misses: 8 } : null,
      }),
    }),
    keyring: parts.part('keyring', {
      all: has ? KEYS : [],
      find: (fingerprint: string) => KEYS.find((key) => key.fingerprint === fingerprint),
    }),
    replayMemory: has ? parts.part('replayMemory') : null,
    publication: has
      ? parts.part('publication', { state: publicationState, remoteKeyState: 'equal' })
      : null,
    knownChats,
    known: {
      knownChats,
      journal: parts.part('journal'),
      trust: parts.part('trust', {
        policies: { bot: 'open', for: () => 'pinned' },
        isRemembered: (userId: number) => userId === 7,
      }),
      names: parts.part('names'),
      findings: parts.part('findings'),
      modes: parts.part('modes', { lookups: { hits: 5, misses: 6 } }),
      directory: parts.part('directory', { lookups }),
    },
    incoming: has ? parts.part('incoming') : null,
    attachments: parts.part('attachments', { openings: 2, spoolBytes: 1000 }),
    messages: parts.part('messages'),
    clearFields: parts.part('clearFields'),
    keyUsage: parts.part('keyUsage'),
    outcomes: parts.part('outcomes'),
  })
  return { parts, shown, link, core, log }
}

/** A line of `PlayedParts`. */
const line = (path: string, ...args: unknown[]) =>
  [path, ...args.map((arg) => JSON.stringify(arg))].join(' ')
const count = (name: string, labels: object = {}) =>
  line('metrics.count', `postern_${name}`, labels)
const observe = (name: string, labels: object, value: number) =>
  line('metrics.observe', `postern_${name}`, labels, value)

/** Each event with what it does. */
type Effects = readonly (readonly [path: string, event: unknown, calls: string[]])[]

async function expectEffects(parts: PlayedParts, effects: Effects): Promise<void> {
  for (const [path, event, calls] of effects) {
    expect([path, event, await parts.fire(path, event)]).toEqual([path, event, calls])
  }
}

describe('calls to the service', () => {
  const LINK: Effects = [
    ['health.onChange', { code: 'starting', holds: true }, []],
    ...[true, false].map((holds): Effects[number] => {
      const change = { code: 'token', holds } as const
      return ['health.onChange', change, [line('alerts.raise', alertForReason(change))]]
    }),
    [
      'alerts.onOutcome',
      { way: 'url', outcome: 'told' },
      [count('alerts_total', { way: 'url', outcome: 'told' })],
    ],
    ['link.onIdentified', false, [line('watch.identified', false)]],
    ['link.onBot', { status: 'paused' }, [line('watch.sawStatus', 'paused')]],
    [
      'link.onUpstream answered',
      { status: 204, ms: 5, own: true },
      [
        line('watch.answered', { status: 204, ms: 5, own: true }),
        count('upstream_calls_total', { owner: 'sidecar', status: '2xx' }),
        observe('upstream_duration_seconds', { owner: 'sidecar' }, 0.005),
      ],
    ],
    [
      'link.onUpstream unreachable',
      new NoResponseError('postern_upstream_timeout', 'slow'),
      [
        line('watch.unreachable', 'http://service did not answer in time (slow)'),
        count('upstream_unanswered_total', { code: 'postern_upstream_timeout' }),
      ],
    ],
    ['link.onUpstream unauthorized', undefined, ['watch.unauthorized']],
    ['link.onUpstream paused', undefined, ['watch.paused']],
    ['link.onUpstream clock', 7, ['watch.clock 7']],
    [
      'link.onUpstream budget',
      { usedLastMinute: 3, limit: 30 },
      [
        line('metrics.set', 'postern_own_calls_last_minute', {}, 3),
        line('metrics.set', 'postern_own_calls_limit', {}, 30),
      ],
    ],
  ]

  test('change health, alerts and metrics', async () => {
    const { parts, shown, link } = scene()
    subscribeLink(link)
    await expectEffects(parts, LINK)
    expect(shown.get('postern_ready')?.()).toBe(0)
    expect(shown.get('postern_reason')?.()).toContainEqual([{ code: 'store' }, 1])
    expect(shown.get('postern_warning')?.()).toContainEqual([{ code: 'key-ending' }, 1])
  })
})

const CHANGES = {
  ordinary: { kind: 'blocked', userId: 7, detail: {} },
  alarming: { kind: 'stranger', userId: 7, chatId: 8, detail: {} },
} as const
const PINNED = { bot: 'open', for: () => 'pinned' } as unknown as Core['known']['trust']['policies']
const changed = (change: (typeof CHANGES)[keyof typeof CHANGES]) => {
  const { kind, detail: _detail, ...where } = change
  return line('log.warn', { change: kind, ...where }, 'trust: something changed')
}
const SEAL = { chatId: 8, recipients: 2, skipped: [], isNamed: true, ms: 9 }
const sealed = (skipped: number) => [
  count('seals_total'),
  observe('seal_recipients', {}, 2),
  line('metrics.count', 'postern_seal_skipped_recipients_total', {}, skipped),
  observe('seal_duration_seconds', {}, 0.009),
]
const verdict = (name: string, seconds: number) => [
  count('opens_total', { verdict: name }),
  observe('open_duration_seconds', {}, seconds),
]
const usedKey = (fingerprint: string, kind: string, state: string) => [
  line('keyUsage.note', fingerprint, kind),
  count('opened_by_key_total', { state }),
]

describe('the parts between the doors', () => {
  const skipped = [{ userId: 7, reason: 'gone' }]
  const outcomes = [
    { verdict: 'verified', tookMs: 20, openedWith: 'b' },
    { verdict: 'unsigned', tookMs: null, openedWith: 'x' },
    { verdict: 'readable', tookMs: 30, openedWith: null },
  ]
  const left = { kind: 'left', updateId: 5, chatId: 8, why: 'ours', isFirst: false }
  const came = { kind: 'came', updateId: 5, chatId: 8, why: 'ours', waitedMs: 2000 }
  const DIFFERS =
    'what native code did is not what openpgp.js finds; openpgp.js does all of the work until a restart'
  const CORE: Effects = [
    ['store.onWritable', false, ['watch.writable false']],
    ['store.onReachability', 'rolled-back', ['watch.storeIs "rolled-back"']],
    ['engine.onThreadKilled', 'open', [count('workers_killed_total')]],
    [
      'engine.onDisagreement',
      undefined,
      [
        line(
          'log.error',
          'a certificate was read differently from openpgp.js, which now reads all of them',
        ),
      ],
    ],
    [
      'engine.onCheck',
      { work: 'seal', result: 'same' },
      [count('engine_checks_total', { work: 'seal', result: 'same' })],
    ],
    [
      'engine.onCheck',
      { work: 'open', result: 'differs' },
      [
        count('engine_checks_total', { work: 'open', result: 'differs' }),
        line('log.fatal', { work: 'open' }, DIFFERS),
      ],
    ],
    ['engine.onAvailable', true, ['health.clear "no-threads"']],
    ['engine.onAvailable', false, ['health.set "no-threads" ""']],
    ['engine.onDifference', undefined, ['health.set "engine-differs" ""']],
    [
      'publication.onState',
      { state: 'conflict', detail: 'why' },
      [
        ...['key-unpublished', 'key-expired', 'bot-unprotected'].map((code) =>
          line('health.clear', code),
        ),
        line('health.set', 'key-conflict', 'why'),
      ],
    ],
    ['publication.onRotationAttempt', 'failed', [count('rotations_total', { outcome: 'failed' })]],
    ['link.onBot', { id: 1 }, [line('publication.observe', { id: 1 })]],
    ['keyring.onReread', undefined, ['publication.followKeys']],
    ['watch.onRevived', undefined, ['publication.suspect']],
    ['health.onChange', { code: 'token', holds: false }, ['publication.suspect']],
    ['health.onChange', { code: 'token', holds: true }, []],
    ['health.onChange', { code: 'store', holds: false }, []],
    [
      'journal.onChange',
      CHANGES.ordinary,
      [count('trust_changes_total', { kind: 'blocked' }), changed(CHANGES.ordinary)],
    ],
    [
      'journal.onChange',
      CHANGES.alarming,
      [
        count('trust_changes_total', { kind: 'stranger' }),
        count('trust_alarms_total', { alarm: 'stranger' }),
        line('alerts.raise', alertForTrustChange(CHANGES.alarming, PINNED)),
        changed(CHANGES.alarming),
      ],
    ],
    [
      'incoming.onStranger',
      { chatId: 8, userId: 7 },
      [line('findings.recordUnknownSender', { chatId: 8, userId: 7 })],
    ],
    [
      'incoming.onNamed',
      [
        { userId: 7, username: 'x' },
        { userId: 9, username: 'y' },
      ],
      [line('names.saw', [{ userId: 7, username: 'x' }])],
    ],
    ['knownChats.onReread', 8, ['modes.forget 8', 'directory.forget 8']],
    [
      'knownChats.onFull',
      undefined,
      [
        line('alerts.raise', alertForFull('chats')),
        line('log.error', { what: 'chats' }, 'no more can be remembered: new ones are refused'),
      ],
    ],
    ['trust.onFull', undefined, [line('alerts.raise', alertForFull('people'))]],
    ['messages.onSealed', SEAL, sealed(0)],
    [
      'messages.onSealed',
      { ...SEAL, skipped, isNamed: false },
      [
        line('log.warn', { chatId: 8, skipped }, 'sealed, but not to everybody'),
        count('seals_unnamed_total'),
        ...sealed(1),
      ],
    ],
    [
      'clearFields.onSent',
      ['buttons', 'mentions'],
      ['buttons', 'mentions'].map((field) => count('clear_fields_total', { field })),
    ],
    ['incoming.onJudged', [], ['outcomes.received []']],
    [
      'incoming.onJudged',
      [outcomes[2]],
      ['metrics.noteWork', ...verdict('readable', 0.03), line('outcomes.received', [outcomes[2]])],
    ],
    [
      'incoming.onJudged',
      outcomes,
      [
        'metrics.noteWork',
        ...verdict('verified', 0.02),
        ...usedKey('b', 'message', 'retired'),
        ...verdict('unsigned', 0),
        ...usedKey('x', 'message', 'destroyed'),
        ...verdict('readable', 0.03),
        line('outcomes.received', outcomes),
      ],
    ],
    ['incoming.onLeaving', left, [count('updates_left_total', { why: 'ours' })]],
    [
      'incoming.onLeaving',
      came,
      [
        line(
          'log.info',
          { updateId: 5, chatId: 8, waitedSeconds: 2 },
          'an update left at the service came',
        ),
      ],
    ],
    [
      'replayMemory.onIdsWentBack',
      { from: 9, to: 2 },
      [
        line(
          'log.warn',
          { from: 9, to: 2 },
          'update ids went back: new updates come under ids that the bot has confirmed',
        ),
      ],
    ],
    ['attachments.onDecrypted', 'a', usedKey('a', 'media', 'active')],
    [
      'attachments.onFetched',
      { outcome: 'stored', ms: 50 },
      [
        count('media_total', { outcome: 'stored' }),
        observe('media_duration_seconds', {}, 0.05),
        'metrics.noteWork',
      ],
    ],
  ]

  test('change health, alerts, metrics and log, until the end of the sidecar', async () => {
    const { parts, link, core, log } = scene()
    const subscriptions = subscribeCore(core, link, log)
    expect(parts.calls()).toEqual([])
    await expectEffects(parts, CORE)
    subscriptions[Symbol.dispose]()
    await expectEffects(parts, [
      ['engine.onAvailable', true, []],
      ['engine.onDifference', undefined, []],
    ])
  })

  test('are the others where a sidecar has no key', async () => {
    const { parts, link, core, log } = scene({ has: false })
    using _subscriptions = subscribeCore(core, link, log)
    subscribeReadiness(link, core, log)
    const ofKeys = /^(publication|replayMemory|incoming|keyring|health)\.|^link|^watch/
    await expectEffects(
      parts,
      CORE.filter(([path]) => !ofKeys.test(path) && path !== 'attachments.onDecrypted'),
    )
    await expectEffects(parts, [
      ['watch.onRevived', undefined, []],
      ['health.onChange', { code: 'token', holds: false }, []],
    ])
  })

  test('a write that fails is not reported again by what came with it', async () => {
    const { parts, link, core, log } = scene()
    using _subscriptions = subscribeCore(core, link, log)
    for (const path of ['findings.recordUnknownSender', 'names.saw']) {
      parts.results.set(path, () => Promise.reject(new Error('full')))
    }
    expect(await parts.fire('incoming.onStranger', { chatId: 8, userId: 7 })).toHaveLength(1)
    expect(await parts.fire('incoming.onNamed', [{ userId: 7, username: 'x' }])).toHaveLength(1)
  })

  test.each([
    ['unpublished', true, ['health.set "key-unpublished" ""']],
    ['conflict', false, []],
  ])('a key that starts %s', (publicationState, privateReadable, calls) => {
    const { parts, link, core, log } = scene({ publicationState, privateReadable })
    using _subscriptions = subscribeCore(core, link, log)
    expect(parts.calls()).toEqual(calls)
  })

  test('a bot without a key is ready where private chats may be readable', async () => {
    const { parts, link, core, log } = scene({ privateReadable: true })
    using _subscriptions = subscribeCore(core, link, log)
    const calls = await parts.fire('publication.onState', { state: 'unprotected', detail: '' })
    expect(calls.some((call) => call.startsWith('health.set'))).toBe(false)
  })

  test('what they remember is pruned each hour by the oldest key that opens', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { parts, link, core, log } = scene()
    const subscriptions = subscribeCore(core, link, log)
    vi.advanceTimersByTime(3_600_000)
    expect(parts.calls()).toEqual(['replayMemory.prune 7'])
    ;(core.keyring as unknown as { all: object[] }).all = [keyOf('c', 'destroyed', 5, false)]
    vi.advanceTimersByTime(3_600_000)
    expect(parts.calls()).toEqual(['replayMemory.prune null'])
    subscriptions[Symbol.dispose]()
    vi.advanceTimersByTime(3_600_000)
    expect(parts.calls()).toEqual([])
  })

  test('nothing is pruned where nothing is remembered', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { link, core, log } = scene({ has: false })
    using _subscriptions = subscribeCore(core, link, log)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('are shown by metrics', () => {
    const { shown, link, core, log } = scene()
    using _subscriptions = subscribeCore(core, link, log)
    const read = (name: string) => shown.get(`postern_${name}`)?.()
    expect(read('own_keys')).toContainEqual([{ state: 'retired' }, 1])
    expect(read('key_situation')).toContainEqual([{ situation: 'equal' }, 1])
    expect([read('media_openings'), read('media_spool_bytes')]).toEqual([2, 1000])
    expect(read('threads_waiting')).toEqual([[{ pool: 'judge' }, 2]])
    expect(read('upstream_connections_busy')).toEqual([[{ pool: 'calls' }, 3]])
    const hits = (read('cache_lookups_total') as [{ cache: string; outcome: string }, number][])
      .filter(([{ outcome }]) => outcome === 'hit')
      .map(([{ cache }, value]) => `${cache} ${value}`)
    expect(hits).toEqual(['key-lists 1', 'people 3', 'modes 5', 'certificates 7'])
  })

  test('are shown as far as they are there', () => {
    const { shown, link, core, log } = scene({ has: false })
    using _subscriptions = subscribeCore(core, link, log)
    expect(JSON.stringify(shown.get('postern_cache_lookups_total')?.())).not.toContain('certif')
    expect(JSON.stringify(shown.get('postern_key_situation')?.())).not.toContain('1')
  })
})

describe('readiness', () => {
  const BOT = { id: 1, username: null, mode: 'open', fingerprint: null }
  const READY = [line('log.info', { account: '1', mode: 'open', key: null }, 'ready')]

  function readinessScene() {
    const { parts, link, core, log } = scene()
    const health = new Health()
    const known = parts.part('link', { ...link, health, bot: () => BOT })
    subscribeReadiness(known, core, log)
    return { parts, health }
  }

  test('is logged with each reason against it, and once more without any', async () => {
    const { parts, health } = readinessScene()
    health.set('store', '')
    expect(parts.calls()).toEqual([expect.stringMatching(/^log.error .*not ready/)])
    health.clear('store')
    await new Promise(setImmediate)
    expect(parts.calls()).toEqual(READY)
    expect(await parts.fire('link.onBot', {})).toEqual([])
  })

  test.each(['link.onBot', 'publication.onState'])('is logged after %s', async (event) => {
    const { parts } = readinessScene()
    expect(await parts.fire(event, {})).toEqual(READY)
  })
})

describe('polls and deliveries', () => {
  /** @param o the webhook that the bot has, and settings */
  function updatesScene(
    o: { own?: object | null; publish?: boolean; updatesWaiting?: string } = {},
  ) {
    const { own = null, publish = true, updatesWaiting = 'warning' } = o
    const { parts, shown, link, core, log } = scene()
    const state = { level: 'noticed', pending: 150, oldestMs: 5000, leftMs: 60_000 }
    const updates: Updates = parts.part('updates', {
      webhook: parts.part('webhook', { own }),
      polls: parts.part('polls'),
      backlog: parts.part('backlog', { state }),
      storeReach: parts.part('storeReach'),
    })
    const settings = { key: { publish }, admin: { updatesWaiting } }
    subscribeUpdates(updates, core, link, { settings: settings as never, log })
    return { parts, shown, state }
  }

  const WEBHOOK = { url: 'https://bot.example/secret', failures: 0, lastError: null }
  const failure = { kind: 'status', message: 'it answered 500' }
  const clear = (code: string) => line('health.clear', code)
  const UPDATES: Effects = [
    ['store.onReachability', 'reachable', ['webhook.wake']],
    ['store.onReachability', 'unreachable', ['storeReach.lose']],
    ['store.onWritable', true, ['webhook.wake']],
    ['store.onWritable', false, []],
    [
      'webhook.onChange',
      { webhook: WEBHOOK, takenOver: true },
      [
        clear('webhook-failing'),
        clear('webhook-at-service'),
        line('log.info', { origin: 'https://bot.example', takenOver: true }, 'the webhook is set'),
      ],
    ],
    [
      'link.onBot',
      { queued: 3, webhook: { url: 'x' } },
      [line('updates.noteServiceWebhook', { pending: 3, url: 'x' })],
    ],
    ['link.onBot', { queued: 3 }, [line('updates.noteServiceWebhook', { pending: 3 })]],
    ['watch.onRevived', undefined, ['webhook.start']],
    ...['token', 'upstream', 'paused'].flatMap((code): Effects => [
      ['health.onChange', { code, holds: false }, ['webhook.wake']],
      ['health.onChange', { code, holds: true }, []],
    ]),
    ['health.onChange', { code: 'store', holds: false }, []],
    ['updates.onPolled', 'webhook_active', ['health.set "webhook-at-service" ""']],
    ['updates.onPolled', null, [clear('webhook-at-service')]],
    ['updates.onPolled', 'rate_limited', []],
    ['updates.onServiceWebhook', null, [clear('webhook-at-service')]],
    ['updates.onServiceWebhook', 'x', ['health.set "webhook-at-service" ""']],
    ['polls.onEvicted', 'here', [count('polls_taken_over_total', { by: 'here' })]],
    ['polls.onContested', 'here', ['health.set "second-poller" "through this sidecar"']],
    ['polls.onContested', null, [clear('second-poller')]],
    [
      'updates.onDelivered',
      { updateId: 5, ms: 20, after: 0 },
      [
        count('webhook_deliveries_total', { outcome: 'delivered' }),
        observe('webhook_delivery_duration_seconds', {}, 0.02),
        line('metrics.set', 'postern_webhook_failures', {}, 0),
        line('log.debug', { updateId: 5, ms: 20 }, 'an update is delivered'),
      ],
    ],
    [
      'updates.onDeliveryFailed',
      { updateId: 5, failure, ms: 20, failures: 1, waitMs: 1500 },
      [
        count('webhook_deliveries_total', { outcome: 'status' }),
        observe('webhook_delivery_duration_seconds', {}, 0.02),
        line('metrics.set', 'postern_webhook_failures', {}, 1),
        'backlog.markBehind',
        line(
          'log.warn',
          { updateId: 5, why: 'it answered 500', failures: 1, waitSeconds: 1.5 },
          'a delivery to the webhook failed',
        ),
      ],
    ],
    [
      'updates.onReadFailed',
      { code: 'internal', waitMs: 2500 },
      [line('log.warn', { code: 'internal', waitSeconds: 2.5 }, 'updates could not be read')],
    ],
    [
      'updates.onUnexpectedError',
      'wrong',
      [line('log.error', { error: 'wrong' }, 'reading updates failed')],
    ],
  ]

  test('change health, metrics and log, and are woken by the service', async () => {
    const { parts, shown } = updatesScene()
    expect(parts.calls()).toEqual([])
    await expectEffects(parts, UPDATES)
    expect(shown.get('postern_updates_waiting')?.()).toBe(150)
    expect(shown.get('postern_updates_oldest_seconds')?.()).toBe(5)
  })

  test('name a webhook that is set past the bot’s own, and one that failed before', async () => {
    const { parts } = updatesScene({ own: { ...WEBHOOK, failures: 100, lastError: 'gone' } })
    expect(parts.calls()).toEqual([
      line('health.set', 'webhook-failing', '100 in a row, the last: gone'),
    ])
    const set = 'health.set "webhook-at-service" "set past Postern"'
    expect(await parts.fire('updates.onPolled', 'webhook_active')).toEqual([set])
  })

  test('of a bot without a key may have a webhook at the service', async () => {
    const { parts } = updatesScene({ publish: false })
    expect(await parts.fire('updates.onServiceWebhook', 'x')).toEqual([])
    expect(await parts.fire('updates.onServiceWebhook', null)).toHaveLength(1)
  })

  test.each([
    ['warning', false],
    ['unready', true],
  ])('that wait are a reason where the settings want %s', async (updatesWaiting, isReason) => {
    const { parts, state } = updatesScene({ updatesWaiting })
    const look = { state, before: 'none', isHourLess: false }
    const calls = await parts.fire('backlog.onState', look)
    expect(calls.some((call) => call.startsWith('warnings.set "updates-waiting"'))).toBe(true)
    expect(calls.some((call) => call.startsWith('health.set "updates-waiting"'))).toBe(isReason)
  })
})
