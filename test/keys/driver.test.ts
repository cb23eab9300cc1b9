/** Comparisons with `/me`, commands of the operator, and sends that wait, through the driver of the key's life. */
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { ClockOff } from '../../src/errors.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
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

test('a bot without a username gives its key its id', async () => {
  const { scene, driver } = driving({ username: undefined })
  await passing(driver.run('compare'))
  expect(scene.steps).toContain('make made1 for bot 900')
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

test('a held send is refused when no key is published after the wait, and blocks no later publication', async () => {
  const { scene, driver } = rotatingPublished()
  const look = Promise.withResolvers<void>()
  scene.looks.push(null, look.promise)
  const comparing = driver.run('compare')
  comparing.catch(() => {})
  await vi.advanceTimersByTimeAsync(0)
  const sending = driver.enter(async () => {})
  sending.catch(() => {})
  scene.shown = 'theirs'
  look.resolve()
  expect(await passing(comparing)).toBe(false)
  await expect(sending).rejects.toMatchObject({ code: 'postern_key_unpublished' })
  // it is not inside any more
  scene.shown = 'old'
  expect(await passing(driver.run('publish'))).toBe(true)
})

test('a send held for twenty seconds is refused, until a comparison shows the published key', async () => {
  const { scene, driver, states } = rotatingPublished()
  const look = Promise.withResolvers<void>()
  scene.looks.push(null, look.promise)
  const comparing = driver.run('compare')
  await vi.advanceTimersByTimeAsync(0)
  const sending = driver.enter(async () => {})
  sending.catch(() => {})
  await vi.advanceTimersByTimeAsync(19_999)
  expect(states).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(states).toEqual(['unpublished: the service has not shown the new key yet'])
  await expect(sending).rejects.toMatchObject({ code: 'postern_key_unpublished' })
  look.resolve()
  expect(await passing(comparing)).toBe(true)
  expect(driver.life.publication).toBe('published')
})

test('a send prepares itself before it enters, anew after a wait, and not without a published key', async () => {
  const { scene, driver } = rotatingPublished()
  const look = Promise.withResolvers<void>()
  scene.looks.push(null, look.promise)
  const prepare = vi.fn(async () => prepare.mock.calls.length)
  const first = await driver.enter(prepare)
  expect(first).toMatchObject({ prepared: 1, signer: OLD })
  first.leave()
  const comparing = driver.run('compare')
  await vi.advanceTimersByTimeAsync(0)
  const sending = driver.enter(prepare)
  await vi.advanceTimersByTimeAsync(0)
  expect(prepare).toHaveBeenCalledTimes(2)
  look.resolve()
  expect(await passing(comparing)).toBe(true)
  expect(await sending).toMatchObject({ prepared: 3, signer: { fingerprint: 'new' } })
  driver.apply({ kind: 'hold-overrun' })
  await expect(driver.enter(prepare)).rejects.toMatchObject({ code: 'postern_key_unpublished' })
  expect(prepare).toHaveBeenCalledTimes(3)
})

test('a refused `PUT /key` admits held sends again, signed by the old key', async () => {
  const { scene, driver } = rotatingPublished()
  scene.puts.push(serviceError(403))
  await passing(driver.run('compare'))
  expect((await driver.enter(async () => {})).signer).toEqual(OLD)
  expect(vi.getTimerCount()).toBe(0)
})
