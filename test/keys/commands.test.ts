import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { ClockOff } from '../../src/lookups/clocks.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  pendingKey,
  published,
  driving,
  rotating,
  rotatingPublished,
  START_MS,
} from './publication-scene.ts'
import { serviceError } from './support.ts'
import { refused } from '../support/refused.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })

describe('publishing because the operator asks', () => {
  test('publishes the key that waits, else the active one again, else a first one', async () => {
    const waiting = rotating()
    expect(await passing(waiting.driver.run('publish'))).toBe(true)
    expect(waiting.scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
    const removed = driving({ keys: [OLD] })
    expect(await passing(removed.driver.run('publish'))).toBe(true)
    expect(removed.scene.steps).toEqual(['me', ...published('old')])
    const first = driving()
    await passing(first.driver.run('publish'))
    const made = ['make made1 for mybot', 'mark made1 offered']
    expect(first.scene.steps).toEqual(['me', ...made, ...published('made1')])
  })

  test('puts nothing where the key is shown already', async () => {
    const { scene, driver } = rotating({ shown: 'new' })
    expect(await passing(driver.run('publish'))).toBe(true)
    expect([scene.steps, driver.life.publication]).toEqual([['me', 'promote new'], 'published'])
    const active = driving({ keys: [OLD], shown: 'old' })
    await passing(active.driver.run('publish'))
    expect(active.scene.steps).toEqual(['me'])
  })

  test('goes over a key that is not ours only when that is asked for', async () => {
    const { scene, driver } = driving({ keys: [OLD], shown: 'theirs' })
    await expect(driver.run('publish')).rejects.toMatchObject({ code: 'postern_key_conflict' })
    expect(scene.steps).toEqual(['me'])
    await passing(driver.run('replace'))
    expect(scene.steps.slice(1)).toEqual(['me', ...published('old')])
  })

  test('fails with what the service refused, also where the key before it stays published', async () => {
    const { driver } = rotating({ puts: [serviceError(403)] })
    await expect(passing(driver.run('publish'))).rejects.toMatchObject({ status: 403 })
    expect(driver.life.publication).toBe('published')
  })

  test('fails while the service takes the key and does not show it', async () => {
    const { scene, driver } = driving({ keys: [NEW] })
    scene.shows = false
    await expect(passing(driver.run('publish'))).rejects.toThrow(refused('postern_key_unpublished'))
    expect(driver.life.publication).toBe('unpublished')
  })
})

describe('beginning a rotation', () => {
  test('makes the new key and publishes nothing yet', async () => {
    const { scene, driver, rotation, outcomes } = driving({ keys: [OLD], shown: 'old' })
    await driver.run('rotate')
    expect(scene.steps).toEqual(['me', 'make made1 for mybot'])
    expect(rotation()).toMatchObject({
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
    ['the one that waits', { keys: [NEW], shown: 'new' }, 'postern_key_unpublished'],
    ['none, while a first one waits', { keys: [NEW] }, 'postern_key_unpublished'],
    ['none, as ever', {}, 'postern_key_unpublished'],
  ])('is refused where the key that is shown is %s', async (_, o, code) => {
    const { scene, driver } = driving(o)
    await expect(driver.run('rotate')).rejects.toMatchObject({ code })
    expect([scene.steps, driver.rotation]).toEqual([['me'], null])
  })

  test('counts as not made where the clocks are too far apart', async () => {
    const o = { keys: [OLD], shown: 'old', clockSkewMs: -200_000 }
    const { scene, driver, outcomes } = driving(o)
    await expect(driver.run('rotate')).rejects.toMatchObject({ code: 'refused' })
    expect([scene.steps, outcomes, driver.rotation]).toEqual([['me'], ['not-made'], null])
  })
})

describe('making the first key', () => {
  test('makes it and leaves it unpublished', async () => {
    const { scene, driver } = driving()
    expect(await driver.run('make-first')).toBe(true)
    expect(scene.keys).toMatchObject([{ fingerprint: 'made1', state: 'pending' }])
    expect(scene.steps).toEqual(['me', 'make made1 for mybot'])
  })

  test.each([
    [[OLD], 'active: old'],
    [[NEW, OLD], 'pending: new'],
  ])('is refused where there is one already', async (keys, which) => {
    const { scene, driver } = driving({ keys })
    await expect(driver.run('make-first')).rejects.toThrow(
      refused('refused', which, { hint: 'postern key rotate' }),
    )
    expect(scene.steps).toEqual([])
  })

  test('is refused where the clocks are too far apart', async () => {
    const { scene, driver } = driving({ clockSkewMs: 120_001 })
    await expect(driver.run('make-first')).rejects.toBeInstanceOf(ClockOff)
    expect([scene.steps, scene.keys]).toEqual([['me'], []])
  })
})

describe('abandoning a rotation', () => {
  test('forgets the new key, which the service was not told of', async () => {
    const { scene, driver, rotation, outcomes } = rotating()
    await driver.run('abandon')
    expect(driver.rotation).toMatchObject({
      to: 'new',
      phase: 'abandoned',
      endedAtMs: START_MS,
    })
    expect([scene.steps, outcomes, rotation()]).toEqual([['discard new'], ['abandoned'], null])
    expect(scene.logged('info')).toEqual([
      { fingerprint: 'new', msg: 'the rotation was abandoned' },
    ])
  })

  test('is refused where none is under way, or a key waits that belongs to none', async () => {
    for (const { scene, driver } of [
      driving({ keys: [OLD], shown: 'old' }),
      driving({ keys: [NEW] }),
    ]) {
      await expect(driver.run('abandon')).rejects.toMatchObject({
        code: 'refused',
        message: 'no rotation is under way',
        hint: expect.stringContaining('postern key list'),
      })
      expect(scene.steps).toEqual([])
    }
  })

  test('is refused once the service may have the key', async () => {
    const keys = [pendingKey('new', { offeredAtMs: 0 }), OLD]
    const { scene, driver, rotation, outcomes } = rotating({ keys })
    await expect(driver.run('abandon')).rejects.toThrow(
      refused('refused', 'may have the new key already', { hint: '--watch' }),
    )
    expect([scene.steps, outcomes]).toEqual([[], []])
    expect(rotation()).not.toBeNull()
  })

  test('lets go of sends that are waited for, and later attempts are made again', async () => {
    const { scene, driver } = rotatingPublished()
    const { leave } = await driver.enter()
    const comparing = driver.run('compare')
    await vi.advanceTimersByTimeAsync(0)
    driver.apply({ kind: 'dropping', isOn: true })
    // nothing is left to do for whoever compared
    expect(await comparing).toBe(true)
    expect(scene.steps).toEqual(['me'])
    await expect(driver.run('compare')).resolves.toBe(true)
    expect(scene.steps).toEqual(['me', 'me'])
    await driver.run('abandon')
    await driver.run('rotate', 1)
    leave()
    expect(await passing(driver.run('compare'))).toBe(true)
    expect(scene.steps.slice(-3)).toEqual(published('made1'))
  })
})
