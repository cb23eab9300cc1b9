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
  type SceneOptions,
} from './publication-scene.ts'
import { serviceError } from './support.ts'
import { refused } from '../support/refused.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })
const NEW_PUBLISHED = ['mark new offered', ...published('new')]

describe('`key publish`', () => {
  test.each<[string, SceneOptions, string[]]>([
    ['the pending key', { keys: [NEW, OLD], shown: 'old' }, NEW_PUBLISHED],
    ['the active key again', { keys: [OLD] }, published('old')],
    ['a first key', {}, ['make made1 for mybot', 'mark made1 offered', ...published('made1')]],
    ['no key while the pending one is shown', { keys: [NEW, OLD], shown: 'new' }, ['promote new']],
    ['no key while the active one is shown', { keys: [OLD], shown: 'old' }, []],
  ])('`key publish` publishes %s', async (_, o, steps) => {
    const { scene, driver } = driving(o)
    expect(await passing(driver.run('publish'))).toBe(true)
    expect([scene.steps, driver.life.publication]).toEqual([['me', ...steps], 'published'])
  })

  test('`key publish` puts a key over a foreign one only with `--replace`', async () => {
    const { scene, driver } = driving({ keys: [OLD], shown: 'theirs' })
    await expect(driver.run('publish')).rejects.toMatchObject({ code: 'postern_key_conflict' })
    expect(scene.steps).toEqual(['me'])
    await passing(driver.run('replace'))
    expect(scene.steps.slice(1)).toEqual(['me', ...published('old')])
  })

  test('`key publish` fails with the refusal of the service while the former key stays published', async () => {
    const { driver } = rotating({ puts: [serviceError(403)] })
    await expect(passing(driver.run('publish'))).rejects.toMatchObject({ status: 403 })
    expect(driver.life.publication).toBe('published')
  })

  test.each(['publish', 'replace'] as const)(
    'the errand `%s` fails while the service accepts the key and does not show it',
    async (errand) => {
      const { scene, driver } = driving({ keys: [NEW] })
      scene.shows = false
      await expect(passing(driver.run(errand))).rejects.toThrow(refused('postern_key_unpublished'))
      expect(driver.life.publication).toBe('unpublished')
    },
  )
})

describe('`key rotate`', () => {
  test('`key rotate` makes the new key and publishes nothing yet', async () => {
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
    ['foreign', { keys: [OLD], shown: 'theirs' }, 'postern_key_conflict'],
    ['removed', { keys: [OLD], shown: null }, 'postern_bot_unprotected'],
    ['a retired one', { keys: [OLD, RETIRED], shown: 'retired' }, 'postern_key_unpublished'],
    ['the pending one', { keys: [NEW], shown: 'new' }, 'postern_key_unpublished'],
    ['none and a first one is pending', { keys: [NEW] }, 'postern_key_unpublished'],
    ['none, as always', {}, 'postern_key_unpublished'],
  ])('`key rotate` is refused while the key in `/me` is %s', async (_, o, code) => {
    const { scene, driver } = driving(o)
    await expect(driver.run('rotate')).rejects.toMatchObject({ code })
    expect([scene.steps, driver.rotation]).toEqual([['me'], null])
  })

  test('`key rotate` with clocks too far apart makes no key, and counts as not made', async () => {
    const o = { keys: [OLD], shown: 'old', clockSkewMs: -200_000 }
    const { scene, driver, outcomes } = driving(o)
    await expect(driver.run('rotate')).rejects.toMatchObject({ code: 'refused' })
    expect([scene.steps, outcomes, driver.rotation]).toEqual([['me'], ['not-made'], null])
  })
})

describe('`key generate`', () => {
  test('the errand `make-first` makes a first key and leaves it unpublished', async () => {
    const { scene, driver } = driving()
    expect(await driver.run('make-first')).toBe(true)
    expect(scene.keys).toMatchObject([{ fingerprint: 'made1', state: 'pending' }])
    expect(scene.steps).toEqual(['me', 'make made1 for mybot'])
  })

  test.each([
    [[OLD], 'active: old'],
    [[NEW, OLD], 'pending: new'],
  ])('the errand `make-first` is refused while a key exists: %o', async (keys, which) => {
    const { scene, driver } = driving({ keys })
    await expect(driver.run('make-first')).rejects.toThrow(
      refused('refused', which, { hint: 'postern key rotate' }),
    )
    expect(scene.steps).toEqual([])
  })

  test('the errand `make-first` is refused while the clocks are too far apart', async () => {
    const { scene, driver } = driving({ clockSkewMs: 120_001 })
    await expect(driver.run('make-first')).rejects.toBeInstanceOf(ClockOff)
    expect([scene.steps, scene.keys]).toEqual([['me'], []])
  })
})

describe('`key rotate --abandon`', () => {
  test('an abandoned rotation discards a new key that was never offered to the service', async () => {
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

  test('`--abandon` is refused without a rotation, also while a first key is pending', async () => {
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

  test('`--abandon` is refused once the service may have the new key', async () => {
    const keys = [pendingKey('new', { offeredAtMs: 0 }), OLD]
    const { scene, driver, rotation, outcomes } = rotating({ keys })
    await expect(driver.run('abandon')).rejects.toThrow(
      refused('refused', 'may have the new key already', { hint: '--watch' }),
    )
    expect([scene.steps, outcomes]).toEqual([[], []])
    expect(rotation()).not.toBeNull()
  })

  test('an abandoned rotation stops waiting for sends, and a later rotation is attempted again', async () => {
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
