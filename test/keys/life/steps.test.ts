/** What each step of the key's life does next, one event after the other, without a driver. */
import { describe, expect, test } from 'vitest'
import { NoResponseError, Refusal } from '../../../src/errors.ts'
import { beginLife, type Errand, type KeyEvent, type KeyLife } from '../../../src/keys/life/life.ts'
import type { Facts } from '../../../src/kernel/own-key/key-state.ts'
import { advance } from '../../../src/keys/life/machine.ts'
import { isReady } from '../../../src/kernel/own-key/own-key.ts'
import { isRefused } from '../../../src/keys/life/transition.ts'
import { keyOf, pendingKey } from '../publication-scene.ts'
import { serviceError } from '../support.ts'

const [OLD, NEW] = [keyOf('old'), pendingKey('new')]
const OFFERED = pendingKey('new', { offeredAtMs: 5 })
const LOST = new NoResponseError('postern_upstream_unreachable', 'cut')
const DONE = { kind: 'done' } as const
const failed = (error: unknown) => ({ kind: 'failed', error }) as const
const shown = (fingerprint: string | null) => ({ kind: 'shown', fingerprint }) as const

/** A life over keys, to which a test gives events. */
function story(keys: Facts['keys'], o: { life?: Partial<KeyLife>; facts?: Partial<Facts> } = {}) {
  const facts: Facts = {
    keys,
    firstPublishedAtMs: keys.length > 0 ? 5 : null,
    nowMs: 1_000_000,
    monotonicMs: 700,
    isClockBehind: false,
    ...o.facts,
  }
  let life: KeyLife = { ...beginLife(facts, null), ...o.life }
  const give = (...events: KeyEvent[]) => {
    const effects = events.flatMap((event) => {
      const after = advance(life, event, facts)
      life = after.life
      return after.effects
    })
    const actions = effects.filter(({ kind }) => !['log', 'state'].includes(kind))
    return { effects, actions, last: effects.at(-1), of: (kind: string) => ofKind(effects, kind) }
  }
  return {
    facts,
    give,
    get life() {
      return life
    },
    /** Asks, and shows a fingerprint in `/me`. */
    compare: (errand: Errand, fingerprint: string | null) =>
      give({ kind: 'asked', errand }, shown(fingerprint), DONE),
  }
}
const ofKind = <E extends { kind: string }>(effects: E[], kind: string): E[] =>
  effects.filter((one) => one.kind === kind)

/** The key is put, and this answers. Then `/me` shows, as often as it is asked. */
function attempted(answer: KeyEvent, fingerprint: string | null, pending = NEW) {
  const one = story([pending, OLD])
  one.give({ kind: 'key-found', detail: '' })
  expect(one.compare('compare', 'old').last).toEqual({ kind: 'hold-sends' })
  const record = one.give(DONE).last
  if (pending === NEW) {
    expect(record).toEqual({ kind: 'record-offered', fingerprint: 'new', isOffered: true })
    one.give(DONE)
  }
  const steps: unknown[] = []
  let { effects, last } = one.give(answer)
  while (last?.kind === 'get-me' || last?.kind === 'pause') {
    steps.push(last.kind === 'pause' ? last.ms : 'me')
    const after = one.give(last.kind === 'pause' ? DONE : shown(fingerprint))
    effects = after.effects
    last = after.last
  }
  return { ...one, one, steps, effects, last }
}

describe('after a publication `/me` is asked', () => {
  test('eight times within 16 s where the service accepted it, and it is then waited for', () => {
    const { steps, last, one } = attempted(DONE, 'old')
    const pauses = [250, 500, 1000, 2000, 4000, 4000, 4000]
    expect(steps).toEqual(['me', ...pauses.flatMap((ms) => [ms, 'me'])])
    expect(last).toEqual({ kind: 'release-sends' })
    expect(one.give(DONE).actions).toEqual([{ kind: 'ended', isSettled: false }])
    expect([one.life.publication, one.life.accepted, one.life.shown]).toEqual([
      'unpublished',
      { before: 'old', atMs: 700 },
      'old',
    ])
  })

  test('three times where the answer was lost, and the same key is put once more, and not again', () => {
    const { steps, last, one } = attempted(failed(LOST), 'old')
    expect(steps).toEqual(['me', 500, 'me', 1500, 'me'])
    expect(last).toEqual({ kind: 'put-key', fingerprint: 'new' })
    const looks = [shown('old'), DONE, shown('old'), DONE, shown('old')]
    const { last: end, of } = one.give(failed(LOST), ...looks)
    expect(end).toEqual({ kind: 'release-sends' })
    expect(of('rotation-attempt')).toEqual([{ kind: 'rotation-attempt', outcome: 'unanswered' }])
    expect(one.give(DONE).actions).toEqual([{ kind: 'ended', isSettled: true }])
  })

  test('once where the service refused it, which then knows nothing of a new key', () => {
    const { steps, last, one } = attempted(failed(serviceError(409, 7)), 'old')
    expect([steps, last]).toEqual([
      ['me'],
      { kind: 'record-offered', fingerprint: 'new', isOffered: false },
    ])
    const { of } = one.give(DONE)
    expect(of('rotation-attempt')).toEqual([{ kind: 'rotation-attempt', outcome: 'refused' }])
    expect(one.life.publication).toBe('published')
  })

  test('once where it shows the key, which is promoted', () => {
    const { steps, last, one } = attempted(DONE, 'new')
    expect([steps, last]).toEqual([['me'], { kind: 'promote', fingerprint: 'new' }])
    const { last: end, of } = one.give(DONE)
    expect(end).toEqual({ kind: 'release-sends' })
    expect(of('rotation-attempt')).toEqual([{ kind: 'rotation-attempt', outcome: 'done' }])
    expect(one.give(DONE).actions).toEqual([{ kind: 'ended', isSettled: true }])
  })

  test.each([['theirs'], [null]])('once where it shows %s, which was not there before', (other) => {
    for (const answer of [DONE, failed(LOST)]) {
      const { steps, last, one } = attempted(answer, other, OFFERED)
      expect([steps, last, one.life.shown]).toEqual([['me'], { kind: 'release-sends' }, other])
    }
  })
})

test.each([
  ...[400, 401, 403, 404, 409, 410, 413, 429].map((status) => [status, true]),
  ...[402, 405, 408, 412, 422, 500, 502, 503, 504].map((status) => [status, false]),
])('status %d proves that a call was not done: %s', (status, expected) => {
  expect(isRefused(serviceError(Number(status)))).toBe(expected)
})

test('neither a lost answer nor an error of our own proves that a call was not done', () => {
  expect([LOST, new Error('x'), null].map(isRefused)).toEqual([false, false, false])
})

describe('a task that fails at', () => {
  const error = new Refusal('postern_store_unwritable')
  const ended = { kind: 'ended', error }

  test('a step before anything was done ends with the error', () => {
    const one = story([OLD])
    expect(one.give({ kind: 'asked', errand: 'publish' }, failed(error)).last).toEqual(ended)
    expect(one.give({ kind: 'asked', errand: 'publish' }, shown('x'), failed(error)).last).toEqual(
      ended,
    )
    const none = story([])
    const { actions } = none.give({ kind: 'asked', errand: 'make-first' }, shown(null), DONE)
    expect(actions.at(-1)).toEqual({ kind: 'make-key' })
    expect(none.give(failed(error)).last).toEqual(ended)
  })

  test('holding, recording or promoting gives the sends free, and ends with the error', () => {
    for (const before of [[], [DONE], [DONE, DONE, DONE, shown('new')]]) {
      const one = story([NEW, OLD])
      one.compare('publish', 'old')
      expect(one.give(...before, failed(error)).last).toEqual({ kind: 'release-sends' })
      expect(one.give(DONE).actions).toEqual([ended])
      expect(one.life.task).toEqual({ step: 'idle' })
    }
  })

  test('promoting a key that the service showed already ends with the error', () => {
    const one = story([OFFERED, OLD])
    expect(one.compare('publish', 'new').last).toEqual({ kind: 'promote', fingerprint: 'new' })
    expect(one.give(failed(error)).last).toEqual(ended)
  })

  test('giving the sends free ends with that error, or with the first one', () => {
    const other = new Error('later')
    const one = story([NEW, OLD])
    one.compare('publish', 'old')
    one.give(failed(error))
    expect(one.give(failed(other)).actions).toEqual([ended])
    const two = story([NEW, OLD])
    two.compare('publish', 'old')
    two.give(DONE, DONE, DONE, shown('new'), DONE)
    expect(two.give(failed(other)).actions).toEqual([{ kind: 'ended', error: other }])
  })

  test('an event after its end is an error', () => {
    const one = story([OLD])
    expect(() => one.give(DONE)).toThrow('idle has no done')
    expect(() => one.give({ kind: 'asked', errand: 'report' }, { ...DONE })).toThrow(
      'reading has no done',
    )
  })
})

describe('a task for the operator', () => {
  test.each<[Errand]>([['publish'], ['replace']])(
    '%s ends with an error where the service does not show the key yet',
    (errand) => {
      const one = story([OFFERED])
      one.compare(errand, null)
      const looks = Array.from({ length: 8 }, (_, n) =>
        n === 0 ? [shown(null)] : [DONE, shown(null)],
      )
      one.give(DONE, DONE, ...looks.flat())
      expect(one.give(DONE).last).toEqual({
        kind: 'ended',
        error: expect.objectContaining({ code: 'postern_key_unpublished' }) as unknown,
      })
    },
  )

  test.each<[Errand, string | null, string | null]>([
    ['publish', 'theirs', 'postern_key_conflict'],
    ['rotate', 'theirs', 'postern_key_conflict'],
    ['rotate', null, 'postern_bot_unprotected'],
    ['replace', 'theirs', null],
  ])('%s, where the service shows %s, ends with %s', (errand, other, code) => {
    const { last } = story([OLD]).compare(errand, other)
    if (code === null) expect(last).toEqual({ kind: 'hold-sends' })
    else
      expect(last).toEqual({ kind: 'ended', error: expect.objectContaining({ code }) as unknown })
  })

  test('publish settles where the active key is shown', () => {
    const one = story([OLD], { life: { publication: 'unpublished' } })
    expect(one.compare('publish', 'old').last).toEqual({ kind: 'ended', isSettled: true })
    expect([one.life.publication, one.life.remote]).toEqual(['published', 'equal'])
  })

  test('rotate makes a key beside the published one alone, and leaves it to the next comparison', () => {
    const error = expect.objectContaining({ code: 'postern_key_unpublished' }) as unknown
    const waiting = story([NEW, OLD]).compare('rotate', 'old')
    expect(waiting.last).toEqual({ kind: 'ended', error })
    const one = story([OLD])
    expect(one.compare('rotate', 'old').last).toEqual({ kind: 'make-key' })
    const facts = { ...one.facts, keys: [NEW, OLD] }
    const { life, effects } = advance(one.life, DONE, facts)
    expect(effects.at(-1)).toEqual({ kind: 'ended', isSettled: true })
    expect(life.rotation.current).toEqual({ from: 'old', to: 'new' })
    expect(ofKind(effects, 'rotation-begun')).toHaveLength(1)
  })

  test('rotate settles at once while one is under way, or ended since it was asked', () => {
    const under = story([NEW, OLD])
    under.give({ kind: 'key-found', detail: '' })
    const settled = [{ kind: 'ended', isSettled: true }]
    expect(under.give({ kind: 'asked', errand: 'rotate' }).actions).toEqual(settled)
    const asked = (sinceMs: number | undefined, endedAtMs: number) => {
      const { rotation } = beginLife({ keys: [OLD] }, null)
      const one = story([OLD], { life: { rotation: { ...rotation, endedAtMs } } })
      const event = { kind: 'asked', errand: 'rotate' } as const
      return one.give(sinceMs === undefined ? event : { ...event, sinceMs }).actions
    }
    expect([asked(50, 50), asked(undefined, 0)]).toEqual([settled, settled])
    const begun = [{ kind: 'get-me' }]
    expect([asked(51, 50), asked(undefined, -1)]).toEqual([begun, begun])
  })

  test('a key that was made for a rotation is made known, one that could not be made too', () => {
    const one = story([OLD])
    one.compare('rotate', 'old')
    const error = new Refusal('postern_store_unwritable')
    expect(one.give(failed(error)).effects).toEqual([
      { kind: 'rotation-attempt', outcome: 'not-made' },
      { kind: 'ended', error },
    ])
    const planned = story([OLD], { life: { rotateEveryMs: 1000 } })
    expect(planned.compare('compare', 'old').last).toEqual({ kind: 'make-key' })
    expect(planned.give(failed(error)).actions).toEqual([
      { kind: 'rotation-attempt', outcome: 'not-made' },
      { kind: 'ended', isSettled: true },
    ])
  })

  test('a first key that is made for a publication is published, and no rotation', () => {
    const one = story([])
    expect(one.compare('publish', null).last).toEqual({ kind: 'make-key' })
    const { life, effects } = advance(one.life, DONE, { ...one.facts, keys: [NEW] })
    expect([effects.at(-1), life.rotation.current]).toEqual([{ kind: 'hold-sends' }, null])
    expect(() => advance(one.life, DONE, one.facts)).toThrow('not there')
  })

  test('make-first refuses where there is a key, and only makes one', () => {
    const { last } = story([OLD]).give({ kind: 'asked', errand: 'make-first' })
    expect(last).toEqual({
      kind: 'ended',
      error: expect.objectContaining({ code: 'refused' }) as unknown,
    })
    const one = story([])
    one.compare('make-first', null)
    const { effects } = advance(one.life, DONE, { ...one.facts, keys: [NEW] })
    expect(effects.at(-1)).toEqual({ kind: 'ended', isSettled: true })
  })

  test('abandon discards a key that the service cannot know, and no other', () => {
    const one = story([NEW, OLD])
    one.give({ kind: 'key-found', detail: '' })
    const discard = { kind: 'discard', fingerprint: 'new' }
    expect(one.give({ kind: 'asked', errand: 'abandon' }).actions).toEqual([discard])
    const ended = one.give(DONE)
    expect(ended.of('rotation-attempt')).toEqual([
      { kind: 'rotation-attempt', outcome: 'abandoned' },
    ])
    expect([ended.last, one.life.rotation.current]).toEqual([
      { kind: 'ended', isSettled: true },
      null,
    ])
    for (const [keys, word] of [
      [[OFFERED, OLD], 'may have the new key'],
      [[OLD], 'no rotation'],
      [[NEW], 'no rotation'],
    ] as const) {
      const other = story(keys)
      other.give({ kind: 'key-found', detail: '' })
      expect(other.give({ kind: 'asked', errand: 'abandon' }).last).toEqual({
        kind: 'ended',
        error: expect.objectContaining({
          message: expect.stringContaining(word) as unknown,
        }) as unknown,
      })
    }
  })

  test('while it abandons a rotation no attempt is begun', () => {
    const one = story([NEW, OLD])
    one.give({ kind: 'dropping', isOn: true })
    expect(one.compare('compare', 'old').last).toEqual({ kind: 'ended', isSettled: true })
    const other = story([NEW, OLD])
    other.compare('compare', 'old')
    expect(other.give({ kind: 'dropping', isOn: true }).actions).toEqual([{ kind: 'drop-hold' }])
    expect(other.give(failed('dropped')).last).toEqual({ kind: 'release-sends' })
    expect(other.give(DONE).last).toEqual({ kind: 'ended', isSettled: true })
  })
})

describe('at any time', () => {
  test('a held send goes on, and nothing counts as published, once it was held for too long', () => {
    const one = story([OLD])
    expect(one.give({ kind: 'hold-overrun' }).actions).toEqual([{ kind: 'open-gate' }])
    expect(one.life.publication).toBe('unpublished')
  })

  test('a `/me` of somebody else has the key compared, unless a task reads it itself', () => {
    const observed = (fingerprint: string | null) =>
      ({ kind: 'bot-observed', fingerprint }) as const
    const one = story([NEW, OLD], { life: { shown: 'old' } })
    expect(one.give(observed('old')).effects).toEqual([])
    expect(one.give(observed('x')).effects).toEqual([{ kind: 'compare-soon' }])
    one.give({ kind: 'asked', errand: 'compare' })
    expect(one.give(observed('x')).effects).toEqual([])
    one.give(shown('old'), DONE)
    expect(one.give(observed('x')).effects).toEqual([{ kind: 'compare-soon' }])
    one.give(DONE, DONE, DONE)
    expect(one.life.task.step).toBe('confirming')
    expect(one.give(observed('new')).effects).toEqual([])
    const before = story([OLD])
    expect(before.give(observed('x')).effects).toEqual([])
    const unanswered = story([OLD], { life: { shown: 'old', isUnanswered: true } })
    expect(unanswered.give(observed('old')).effects).toEqual([{ kind: 'compare-soon' }])
  })

  test.each<[Errand, boolean]>([
    ['compare', false],
    ['observe', false],
    ['publish', true],
    ['report', true],
  ])('%s leaves it open whether somebody answered: %s', (errand, expected) => {
    const one = story([OLD], { life: { isUnanswered: true } })
    one.give({ kind: 'asked', errand })
    expect(one.life.isUnanswered).toBe(expected)
  })

  test('keys that another sidecar changed begin a rotation, end one, or change what is published', () => {
    const keysOf = (life: KeyLife, ...keys: Facts['keys']) => {
      const { facts } = story(keys)
      return advance(life, { kind: 'keys-changed' }, facts)
    }
    const begun = keysOf(story([OLD]).life, NEW, OLD)
    expect(begun.life.rotation.current).toEqual({ from: 'old', to: 'new' })
    expect(begun.effects).toEqual([
      {
        kind: 'rotation-begun',
        from: 'old',
        to: 'new',
        startedAtMs: 500,
        detail: 'another sidecar rotates the key',
      },
    ])
    expect(keysOf(begun.life, NEW, OLD).effects).toEqual([])
    const offered = keysOf(begun.life, OFFERED, OLD)
    expect(offered.life.publication).toBe('unpublished')
    const rotated = keysOf(offered.life, keyOf('new'), keyOf('old', { state: 'retired' }))
    expect(rotated.life.rotation.current).toBeNull()
    expect(rotated.effects[0]).toMatchObject({ kind: 'rotation-step', phase: 'done' })
    expect(rotated.life.publication).toBe('published')
    const dropped = keysOf(begun.life, OLD)
    expect(dropped.effects[0]).toMatchObject({ kind: 'rotation-step', phase: 'abandoned' })
    expect(keysOf(story([OLD]).life, OLD).effects).toEqual([])
    expect(keysOf(story([]).life).effects).toEqual([])
  })

  test('a rotation that is joined is tried at once, and there is nothing to join otherwise', () => {
    const one = story([NEW, OLD])
    one.give({ kind: 'key-found', detail: '' })
    expect(one.give({ kind: 'rotation-joined' }).effects).toMatchObject([
      { kind: 'rotation-step', phase: 'made' },
      { kind: 'compare-soon' },
    ])
    expect(story([OLD]).give({ kind: 'rotation-joined' }).effects).toEqual([])
  })

  test('a comparison that failed is logged once a code, tried again sooner, and forgotten by a good one', () => {
    const one = story([OLD])
    const event = (error: unknown, isTimed = true) =>
      ({ kind: 'compare-failed', error, detail: null, isTimed }) as const
    const levels = (...events: KeyEvent[]) =>
      events.map((given) =>
        one
          .give(given)
          .of('log')
          .map((line) => 'level' in line && line.level),
      )
    const refused = event(serviceError(403))
    const compared = { kind: 'compared', isSettled: true, isTimed: false } as const
    expect(levels(refused, refused, compared, refused, event(LOST))).toEqual([
      ['warn'],
      ['debug'],
      [],
      ['warn'],
      ['debug'],
    ])
    expect(one.life.isUnanswered).toBe(true)
    expect(one.give(event(LOST, false)).of('compare-later')).toEqual([])
  })

  test('comparisons that fail follow each other after 1, 2, 4 and 8 s, and not more slowly', () => {
    const one = story([OLD])
    const timed = (isSettled: boolean) =>
      one.give({ kind: 'compared', isSettled, isTimed: true }).of('compare-later')
    const seconds = Array.from({ length: 5 }, () => timed(false)[0])
    expect(seconds).toEqual(
      [1000, 2000, 4000, 8000, 8000].map((ms) => ({ kind: 'compare-later', ms })),
    )
    expect(timed(true)).toEqual([{ kind: 'compare-later', ms: 600_000 }])
    expect(timed(false)).toEqual([{ kind: 'compare-later', ms: 1000 }])
    expect(one.give({ kind: 'compared', isSettled: true, isTimed: false }).effects).toEqual([])
  })
})

test('a life begins without a rotation, a wish to drop one, or an answer', () => {
  expect(beginLife({ keys: [OLD] }, 5)).toEqual({
    rotateEveryMs: 5,
    publication: 'published',
    remote: null,
    shown: undefined,
    rotation: { current: null, nextAtMs: 0, endedAtMs: -Infinity, pauseMs: 60_000 },
    task: { step: 'idle' },
    isDropping: false,
    accepted: null,
    retryMs: 1000,
    failedWith: null,
    isUnanswered: false,
  })
})

test('a key without its secret is not ready', () => {
  expect([undefined, { ...OLD, unlocked: null }, OLD].map((key) => isReady(key))).toEqual([
    false,
    false,
    true,
  ])
})
