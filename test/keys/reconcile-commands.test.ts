import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ClockOff } from '../../src/kernel/own-key/clocks.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  pendingKey,
  published,
  reconciling,
  rotating,
  START_MS,
} from './publication-scene.ts'
import { serviceError } from './support.ts'

beforeEach(() => void vi.useFakeTimers({ now: START_MS }))
afterEach(() => void vi.useRealTimers())

const RETIRED = keyOf('retired', { state: 'retired' })
const PUBLISH = { replace: false }

describe('publishing because the operator asks', () => {
  test('publishes the key that waits, else the active one again, else a first one', async () => {
    const waiting = rotating()
    expect(await passing(waiting.reconciler.publish(PUBLISH))).toMatchObject({ fingerprint: 'new' })
    expect(waiting.scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
    const removed = reconciling({ keys: [OLD] })
    expect(await passing(removed.reconciler.publish(PUBLISH))).toMatchObject({ fingerprint: 'old' })
    expect(removed.scene.steps).toEqual(['me', ...published('old')])
    const first = reconciling()
    await passing(first.reconciler.publish(PUBLISH))
    const made = ['make made1 for mybot', 'mark made1 offered']
    expect(first.scene.steps).toEqual(['me', ...made, ...published('made1')])
  })

  test('puts nothing where the key is shown already', async () => {
    const { scene, reconciler, status } = rotating({ shown: 'new' })
    expect(await passing(reconciler.publish(PUBLISH))).toMatchObject({ fingerprint: 'new' })
    expect([scene.steps, status.state]).toEqual([['me', 'promote new'], 'published'])
    const active = reconciling({ keys: [OLD], shown: 'old' })
    await passing(active.reconciler.publish(PUBLISH))
    expect(active.scene.steps).toEqual(['me'])
  })

  test('goes over a key that is not ours only when that is asked for', async () => {
    const { scene, reconciler } = reconciling({ keys: [OLD], shown: 'theirs' })
    await expect(reconciler.publish(PUBLISH)).rejects.toMatchObject({
      code: 'postern_key_conflict',
    })
    expect(scene.steps).toEqual(['me'])
    await passing(reconciler.publish({ replace: true }))
    expect(scene.steps.slice(1)).toEqual(['me', ...published('old')])
  })

  test('fails with what the service refused, also where the key before it stays published', async () => {
    const { scene, reconciler, status } = rotating()
    scene.puts.push(serviceError(403))
    await expect(passing(reconciler.publish(PUBLISH))).rejects.toMatchObject({ status: 403 })
    expect(status.state).toBe('published')
  })

  test('fails while the service takes the key and does not show it', async () => {
    const { scene, reconciler, status } = reconciling({ keys: [NEW] })
    scene.shows = false
    await expect(passing(reconciler.publish(PUBLISH))).rejects.toMatchObject({
      code: 'postern_key_unpublished',
    })
    expect(status.state).toBe('unpublished')
  })
})

describe('beginning a rotation', () => {
  test('makes the new key and publishes nothing yet', async () => {
    const { scene, reconciler, rotations, outcomes } = reconciling({ keys: [OLD], shown: 'old' })
    await reconciler.beginRotation()
    expect(scene.steps).toEqual(['me', 'make made1 for mybot'])
    expect(rotations.current).toMatchObject({
      from: 'old',
      to: 'made1',
      phase: 'made',
      detail: 'the new key is on disk',
      startedAtMs: START_MS,
    })
    expect(outcomes).toEqual([])
  })

  test.each([
    ['not ours', { keys: [OLD], shown: 'theirs' }, 'postern_key_conflict'],
    ['gone', { keys: [OLD], shown: null }, 'postern_bot_unprotected'],
    ['an older one', { keys: [OLD, RETIRED], shown: 'retired' }, 'postern_key_unpublished'],
    ['the one that waits', { keys: [NEW, OLD], shown: 'new' }, 'postern_key_unpublished'],
    [
      'the old one while another waits',
      { keys: [NEW, OLD], shown: 'old' },
      'postern_key_unpublished',
    ],
    ['none, as ever', {}, 'postern_key_unpublished'],
  ])('is refused where the key that is shown is %s', async (_, o, code) => {
    const { scene, reconciler, rotations } = reconciling(o)
    await expect(reconciler.beginRotation()).rejects.toMatchObject({ code })
    expect([scene.steps, rotations.latest]).toEqual([['me'], null])
  })

  test('counts as not made where the clocks are too far apart', async () => {
    const o = { keys: [OLD], shown: 'old', clockSkewMs: -200_000 }
    const { scene, reconciler, rotations, outcomes } = reconciling(o)
    await expect(reconciler.beginRotation()).rejects.toMatchObject({ code: 'refused' })
    expect([scene.steps, outcomes, rotations.latest]).toEqual([['me'], ['not-made'], null])
  })
})

describe('making the first key', () => {
  test('makes it and leaves it unpublished', async () => {
    const { scene, reconciler } = reconciling()
    expect(await reconciler.makeFirst()).toMatchObject({ fingerprint: 'made1', state: 'pending' })
    expect(scene.steps).toEqual(['me', 'make made1 for mybot'])
  })

  test.each([
    [[OLD], 'active: old'],
    [[NEW, OLD], 'pending: new'],
  ])('is refused where there is one already', async (keys, which) => {
    const { scene, reconciler } = reconciling({ keys })
    await expect(reconciler.makeFirst()).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(which),
      hint: expect.stringContaining('postern key rotate'),
    })
    expect(scene.steps).toEqual([])
  })

  test('is refused where the clocks are too far apart', async () => {
    const { scene, reconciler } = reconciling({ clockSkewMs: 120_001 })
    await expect(reconciler.makeFirst()).rejects.toBeInstanceOf(ClockOff)
    expect([scene.steps, scene.keys]).toEqual([['me'], []])
  })
})

describe('abandoning a rotation', () => {
  test('forgets the new key, which the service was not told of', async () => {
    const { scene, reconciler, rotations, outcomes } = rotating()
    const abandoned = await reconciler.abandon()
    expect(abandoned).toMatchObject({ to: 'new', phase: 'abandoned', endedAtMs: START_MS })
    expect([scene.steps, outcomes, rotations.current]).toEqual([
      ['discard new'],
      ['abandoned'],
      null,
    ])
    expect(scene.logged('info')).toEqual([
      { fingerprint: 'new', msg: 'the rotation was abandoned' },
    ])
  })

  test('is refused where none is under way, or a key waits that belongs to none', async () => {
    for (const { scene, reconciler } of [
      reconciling({ keys: [OLD], shown: 'old' }),
      reconciling({ keys: [NEW] }),
      rotating({ keys: [OLD] }),
    ]) {
      await expect(reconciler.abandon()).rejects.toMatchObject({
        code: 'refused',
        message: 'no rotation is under way',
        hint: expect.stringContaining('postern key list'),
      })
      expect(scene.steps).toEqual([])
    }
  })

  test('is refused once the service may have the key', async () => {
    const keys = [pendingKey('new', { offeredAtMs: 0 }), OLD]
    const { scene, reconciler, rotations, outcomes } = rotating({ keys })
    await expect(reconciler.abandon()).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('may have the new key already'),
      hint: expect.stringContaining('--watch'),
    })
    expect([scene.steps, outcomes]).toEqual([[], []])
    expect(rotations.current).not.toBeNull()
  })

  test('lets go of sends that are waited for, and later attempts are made again', async () => {
    const { scene, reconciler, status } = rotating()
    status.becomeShown()
    const { leave } = await status.enter()
    const comparing = reconciler.compare()
    await vi.advanceTimersByTimeAsync(0)
    reconciler.drop()
    // nothing is left to do for whoever compared
    expect(await comparing).toBe(true)
    expect(scene.steps).toEqual(['me'])
    await expect(reconciler.compare()).resolves.toBe(true)
    expect(scene.steps).toEqual(['me', 'me'])
    await reconciler.abandon()
    await reconciler.beginRotation()
    leave()
    expect(await passing(reconciler.compare())).toBe(true)
    expect(scene.steps.slice(-3)).toEqual(published('made1'))
  })
})
