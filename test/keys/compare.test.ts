import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { fingerprintOf } from '../../src/keys/driver.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  published,
  driving,
  rotating,
  START_MS,
} from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })

const SHOWN = 'published: the key is published'

describe('comparing what the service shows with what we hold', () => {
  test('a bot’s first key is made under its name and published', async () => {
    const { scene, driver, states, outcomes } = driving({})
    expect(await passing(driver.run('compare'))).toBe(true)
    const made = ['make made1 for mybot', 'mark made1 offered']
    expect(scene.steps).toEqual(['me', ...made, ...published('made1')])
    expect(states).toEqual(['unpublished: the key is being published', SHOWN])
    // it is now the one that is shown, and was no rotation
    expect([driver.life.remote, outcomes]).toEqual(['equal', []])
    expect(scene.logged('info')[0]).toEqual({
      fingerprint: 'made1',
      msg: 'made a key for the bot',
    })
  })

  test('a bot without a name gives its key its id', async () => {
    const { scene, driver } = driving({ username: undefined })
    await passing(driver.run('compare'))
    expect(scene.steps).toContain('make made1 for bot 900')
  })

  test('a first key that waits already is published, and no other is made', async () => {
    const { scene, driver } = driving({ keys: [NEW] })
    expect(await passing(driver.run('compare'))).toBe(true)
    expect(scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
  })

  test('the published key is left alone', async () => {
    const { scene, driver, states } = driving({ keys: [OLD], shown: 'OLD' })
    expect(await passing(driver.run('compare'))).toBe(true)
    expect([scene.steps, states, driver.life.remote]).toEqual([['me'], [SHOWN], 'equal'])
  })

  test('a key that waits and is shown becomes the active one, and is not put again', async () => {
    const { scene, driver, outcomes } = rotating({ shown: 'new' })
    expect(await passing(driver.run('compare'))).toBe(true)
    expect(scene.steps).toEqual(['me', 'promote new'])
    expect(driver.rotation).toMatchObject({ phase: 'done', to: 'new' })
    expect([outcomes, driver.life.publication, driver.life.remote]).toEqual([
      ['done'],
      'published',
      'equal',
    ])
  })

  test('nothing is put over a key that is not ours', async () => {
    const { scene, driver, rotation, states } = rotating({ shown: 'theirs' })
    expect(await passing(driver.run('compare'))).toBe(false)
    expect([scene.steps, states]).toEqual([['me'], ['conflict: the service lists theirs']])
    expect(rotation()).toMatchObject({
      phase: 'waiting',
      detail: 'the service shows a key that is not ours',
      nextAttemptAtMs: null,
    })
  })

  test('a key that was removed is not put back', async () => {
    const { scene, driver, rotation, states } = rotating({ shown: null })
    expect(await passing(driver.run('compare'))).toBe(false)
    expect([scene.steps, states]).toEqual([
      ['me'],
      ['unprotected: the service shows no key for the bot'],
    ])
    expect(rotation()).toMatchObject({
      phase: 'waiting',
      detail: 'the service shows no key for the bot',
    })
  })

  test('an older key of ours is replaced by the active one, or by the one that waits', async () => {
    const older = driving({ keys: [OLD, RETIRED], shown: 'retired' })
    expect(await passing(older.driver.run('compare'))).toBe(true)
    expect(older.scene.steps).toEqual(['me', ...published('old')])
    expect(older.states).toEqual(['unpublished: the service shows an older key of ours', SHOWN])
    const waiting = rotating({ keys: [NEW, OLD, RETIRED], shown: 'retired' })
    expect(await passing(waiting.driver.run('compare'))).toBe(true)
    expect(waiting.scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
  })

  test('nothing is left to do where an older key is shown and no other can sign', async () => {
    const { scene, driver } = driving({ keys: [RETIRED], shown: 'retired' })
    expect(await passing(driver.run('compare'))).toBe(false)
    expect(scene.steps).toEqual(['me'])
  })

  test('a failed look is thrown, and changes nothing', async () => {
    const { driver, states } = driving({ keys: [OLD], shown: 'old', looks: [serviceError(500)] })
    await expect(driver.run('compare')).rejects.toMatchObject({ status: 500 })
    expect(states).toEqual([])
  })
})

describe('a rotation', () => {
  test('that is due is tried, and one that waits is left until it is', async () => {
    const { scene, driver, states } = rotating({ puts: [serviceError(403)] })
    expect(await passing(driver.run('compare'))).toBe(true)
    scene.steps.length = 0
    expect(await passing(driver.run('compare'))).toBe(true)
    expect([scene.steps, states]).toEqual([['me'], [SHOWN, SHOWN]])
    vi.advanceTimersByTime(60_000)
    expect(await passing(driver.run('compare'))).toBe(true)
    expect(scene.steps.slice(1)).toEqual(['me', 'mark new offered', ...published('new')])
  })

  test('that is planned begins when its days are over, and not before', async () => {
    const rotateEveryMs = 5000
    const keys = [keyOf('old', { publishedAtMs: START_MS - rotateEveryMs + 1 })]
    const { scene, driver, outcomes } = driving({
      keys,
      shown: 'old',
      rotateEveryMs,
    })
    expect(await passing(driver.run('compare'))).toBe(true)
    expect([scene.steps, driver.rotation]).toEqual([['me'], null])
    vi.advanceTimersByTime(1)
    expect(await passing(driver.run('compare'))).toBe(true)
    const made = ['make made1 for mybot', 'mark made1 offered']
    expect(scene.steps.slice(1)).toEqual(['me', ...made, ...published('made1')])
    expect(driver.rotation).toMatchObject({
      from: 'old',
      to: 'made1',
      phase: 'done',
      startedAtMs: START_MS + 1,
    })
    expect(outcomes).toEqual(['done'])
    expect(scene.logged('info')).toContainEqual({
      from: 'old',
      to: 'made1',
      msg: 'rotating the bot’s key',
    })
  })

  test('is not planned where no setting asks for it, or nothing was ever published', async () => {
    for (const o of [
      { keys: [OLD] },
      { keys: [keyOf('old', { publishedAtMs: null })], rotateEveryMs: 1 },
    ]) {
      const { scene, driver } = driving({ shown: 'old', ...o })
      expect(await passing(driver.run('compare'))).toBe(true)
      expect(scene.steps).toEqual(['me'])
    }
  })

  test('that is planned and cannot begin leaves the key published, and is told', async () => {
    const o = { keys: [OLD], shown: 'old', rotateEveryMs: 1, clockSkewMs: 120_001 }
    const { scene, driver, states, outcomes } = driving(o)
    expect(await passing(driver.run('compare'))).toBe(true)
    expect([scene.steps, states, outcomes]).toEqual([['me'], [SHOWN], ['not-made']])
    expect(driver.rotation).toBeNull()
    expect(scene.logged('warn')).toEqual([
      { code: 'refused', msg: 'a planned rotation could not be begun' },
    ])
  })
})

test.each([
  ['ABCD', 'abcd'],
  ['', null],
  [null, null],
  [undefined, null],
])('a bot with the fingerprint %j claims %j', (fingerprint, claimed) => {
  expect(fingerprintOf({ fingerprint })).toBe(claimed)
})
