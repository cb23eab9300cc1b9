/** Comparisons of the key that `/me` shows with the bot's own keys. */
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  published,
  driving,
  rotating,
  START_MS,
  type SceneOptions,
} from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })
const BOTH = { keys: [NEW, OLD] }

const SHOWN = 'published: the key is published'
const NEW_PUBLISHED = ['mark new offered', ...published('new')]

test.each<[string, SceneOptions, string[], string]>([
  ['publishes a first key that is pending', { keys: [NEW] }, NEW_PUBLISHED, SHOWN],
  ['leaves the published key as it is', { keys: [OLD], shown: 'OLD' }, [], SHOWN],
  ['promotes a pending key that `/me` shows', { ...BOTH, shown: 'new' }, ['promote new'], SHOWN],
  [
    'puts no key over a foreign one',
    { ...BOTH, shown: 'theirs' },
    [],
    'conflict: the service lists theirs',
  ],
  [
    'puts no key back that was removed',
    { ...BOTH, shown: '' },
    [],
    'unprotected: the service shows no key for the bot',
  ],
  [
    'puts the active key in place of a retired one',
    { keys: [OLD, RETIRED], shown: 'retired' },
    published('old'),
    SHOWN,
  ],
  [
    'puts the pending key in place of a retired one',
    { keys: [NEW, OLD, RETIRED], shown: 'retired' },
    NEW_PUBLISHED,
    SHOWN,
  ],
  [
    'leaves a retired key shown where no other can sign',
    { keys: [RETIRED], shown: 'retired' },
    [],
    'unpublished: the service shows an older key of ours',
  ],
])('a comparison %s', async (_, o, steps, state) => {
  const { scene, driver, states } = driving(o)
  const isSettled = await passing(driver.run('compare'))
  expect(scene.steps).toEqual(['me', ...steps])
  expect([isSettled, states.at(-1)]).toEqual([state === SHOWN, state])
})

test('a bot’s first key is made under its name, published, and no rotation', async () => {
  const { scene, driver, states, outcomes } = driving({})
  expect(await passing(driver.run('compare'))).toBe(true)
  const made = ['make made1 for mybot', 'mark made1 offered']
  expect(scene.steps).toEqual(['me', ...made, ...published('made1')])
  expect(states).toEqual(['unpublished: the key is being published', SHOWN])
  expect([driver.life.remote, outcomes]).toEqual(['equal', []])
  expect(scene.logged('info')[0]).toEqual({
    fingerprint: 'made1',
    msg: 'made a key for the bot',
  })
})

test('a bot without a username gives its key its id', async () => {
  const { scene, driver } = driving({ username: undefined })
  await passing(driver.run('compare'))
  expect(scene.steps).toContain('make made1 for bot 900')
})

test.each([
  ['theirs', 'the service shows a key that is not ours'],
  [null, 'the service shows no key for the bot'],
])('a rotation waits while `/me` shows %s, with the reason and no next attempt', async (...one) => {
  const [shown, detail] = one
  const { driver, rotation } = rotating({ shown })
  await passing(driver.run('compare'))
  expect(rotation()).toMatchObject({ phase: 'waiting', detail, nextAttemptAtMs: null })
})

test('a comparison whose `GET /me` fails throws, and changes no state', async () => {
  const { driver, states } = driving({ keys: [OLD], shown: 'old', looks: [serviceError(500)] })
  await expect(driver.run('compare')).rejects.toMatchObject({ status: 500 })
  expect(states).toEqual([])
})

test('a refused rotation waits for a minute, and the next comparison after it succeeds', async () => {
  const { scene, driver, states } = rotating({ puts: [serviceError(403)] })
  expect(await passing(driver.run('compare'))).toBe(true)
  scene.steps.length = 0
  expect(await passing(driver.run('compare'))).toBe(true)
  expect([scene.steps, states]).toEqual([['me'], [SHOWN, SHOWN]])
  vi.advanceTimersByTime(60_000)
  expect(await passing(driver.run('compare'))).toBe(true)
  expect(scene.steps.slice(1)).toEqual(['me', ...NEW_PUBLISHED])
})

describe('a planned rotation', () => {
  test('a planned rotation begins once `rotateEveryMs` has passed, and not before', async () => {
    const rotateEveryMs = 5000
    const keys = [keyOf('old', { publishedAtMs: START_MS - rotateEveryMs + 1 })]
    const { scene, driver, outcomes } = driving({ keys, shown: 'old', rotateEveryMs })
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

  test('no rotation begins without `rotateEveryMs`, or before the first publication', async () => {
    for (const o of [
      { keys: [OLD] },
      { keys: [keyOf('old', { publishedAtMs: null })], rotateEveryMs: 1 },
    ]) {
      const { scene, driver } = driving({ shown: 'old', ...o })
      expect(await passing(driver.run('compare'))).toBe(true)
      expect(scene.steps).toEqual(['me'])
    }
  })

  test('a planned rotation that cannot begin is logged, and the key stays published', async () => {
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
