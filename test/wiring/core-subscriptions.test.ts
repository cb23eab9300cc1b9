/** What each event of the parts between the doors does to the others, with parts that are played. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { alertForFull, alertForTrustChange } from '../../src/reports/alerting.ts'
import type { Core } from '../../src/wiring/core.ts'
import { subscribeCore, subscribeReadiness } from '../../src/wiring/subscriptions.ts'
import { count, expectEffects, line, observe, scene, type Effects } from './subscriptions-scene.ts'

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
    [
      'holder.onReachable',
      { isReachable: false, reason: 'away' },
      ['health.set "key-agent" "away"'],
    ],
    ['holder.onReachable', { isReachable: true, reason: '' }, ['health.clear "key-agent"']],
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
      [
        count('trust_changes_total', { kind: 'blocked' }),
        changed(CHANGES.ordinary),
        line('journalHeads.noted', CHANGES.ordinary),
      ],
    ],
    [
      'journal.onChange',
      CHANGES.alarming,
      [
        count('trust_changes_total', { kind: 'stranger' }),
        count('trust_alarms_total', { alarm: 'stranger' }),
        line('alerts.raise', alertForTrustChange(CHANGES.alarming, PINNED)),
        changed(CHANGES.alarming),
        line('journalHeads.noted', CHANGES.alarming),
      ],
    ],
    [
      'incoming.onStranger',
      { chatId: 8, userId: 7 },
      [line('keyListHistory.recordUnknownSender', { chatId: 8, userId: 7 })],
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
      ['link.noteWork', ...verdict('readable', 0.03), line('outcomes.received', [outcomes[2]])],
    ],
    [
      'incoming.onJudged',
      outcomes,
      [
        'link.noteWork',
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
        'link.noteWork',
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
      ['holder.onReachable', { isReachable: false, reason: 'away' }, []],
    ])
  })

  test('are the others where a sidecar has no key', async () => {
    const { parts, link, core, log } = scene({ has: false })
    using _subscriptions = subscribeCore(core, link, log)
    subscribeReadiness(link, core, log)
    const ofKeys = /^(holder|publication|replayMemory|incoming|keyring|health)\.|^link|^watch/
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
    for (const path of ['keyListHistory.recordUnknownSender', 'names.saw']) {
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
