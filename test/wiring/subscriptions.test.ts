/** What each event of link and updates does to the other parts, with parts that are played. */
import { describe, expect, test } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { Health } from '../../src/observe/health.ts'
import { alertForReason } from '../../src/reports/alerting.ts'
import {
  subscribeLink,
  subscribeReadiness,
  subscribeUpdates,
} from '../../src/wiring/subscriptions.ts'
import type { Updates } from '../../src/wiring/updates.ts'
import { count, expectEffects, line, observe, scene, type Effects } from './subscriptions-scene.ts'

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
      consumers: parts.part('consumers', { queue: parts.part('queue') }),
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
    ['watch.onRevived', undefined, ['webhook.start', 'consumers.start']],
    ['queue.onShared', undefined, ['webhook.renew']],
    [
      'queue.onLaggards',
      { behind: [{ name: 'archive', count: 45 }], dropped: [{ name: 'reporter', count: 90 }] },
      [
        line(
          'metrics.count',
          'postern_consumer_updates_dropped_total',
          { consumer: 'reporter' },
          90,
        ),
        line(
          'log.error',
          { consumer: 'reporter', count: 90 },
          'a consumer was too far behind, and lost updates',
        ),
        line('health.set', 'consumer-behind', 'archive: 45 updates'),
      ],
    ],
    ['queue.onLaggards', { behind: [], dropped: [] }, [clear('consumer-behind')]],
    [
      'updates.onConsumerFailed',
      { failure, waitMs: 1000 },
      [line('log.warn', { outcome: 'status', waitSeconds: 1 }, 'a consumer got no update')],
    ],
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
        'link.noteWork',
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
