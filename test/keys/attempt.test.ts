/** Attempts at publishing a key, by what the service answers to `PUT /key` and then shows in `/me`. */
import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import type { Errand } from '../../src/keys/life/life.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  pendingKey,
  driving,
  rotating,
  rotatingPublished,
  START_MS,
} from './publication-scene.ts'
import type { Look, SceneOptions } from './publication-scene.ts'
import { refused } from '../support/refused.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })
const SHOWN = 'published: the key is published'
const NOT_SHOWN = 'unpublished: the service took the key and does not show it yet'

test('an attempt reports each of its steps, and ends the rotation', async () => {
  const { scene, driver, rotation, outcomes, states } = rotating()
  const phases: string[] = []
  const seen = (): void => void phases.push(`${rotation()?.phase}: ${rotation()?.detail}`)
  scene.onStep = seen
  expect(await passing(driver.run('compare'))).toBe(true)
  expect(phases).toEqual([
    'made: it was interrupted, and is taken up again',
    'holding: sends under way are waited for',
    'publishing: PUT /key',
    'confirming: GET /me must show it',
    'confirming: GET /me must show it',
  ])
  expect([outcomes, states]).toEqual([['done'], [SHOWN]])
  expect(scene.logged('info')).toEqual([
    { fingerprint: 'new', msg: 'publishing the bot’s key' },
    { from: 'old', to: 'new', msg: 'the bot’s key is rotated' },
  ])
})

test('an attempt that waits for sends ends with the process', async () => {
  const { scene, driver, stop } = rotatingPublished()
  await driver.enter(async () => {})
  const comparing = driver.run('compare')
  await vi.advanceTimersByTimeAsync(0)
  const reason = new Error('stopped')
  stop.abort(reason)
  await expect(comparing).rejects.toBe(reason)
  expect(scene.steps).toEqual(['me'])
})

test('a refused attempt is repeated after Retry-After, and the old key stays published', async () => {
  const { scene, driver, rotation, states, outcomes } = rotating({ puts: [serviceError(429, 90)] })
  expect(await passing(driver.run('compare'))).toBe(true)
  expect([states, outcomes]).toEqual([[SHOWN], ['refused']])
  expect(rotation()).toMatchObject({
    phase: 'waiting',
    detail: 'the service refused it: refused_429',
    nextAttemptAtMs: START_MS + 90_000,
  })
  expect(scene.logged('warn')).toEqual([
    { fingerprint: 'new', code: 'refused_429', msg: 'the key could not be published' },
  ])
})

test('the old key stays published after an unanswered attempt, and the new one stays recorded', async () => {
  const lost = new NoResponseError('postern_upstream_timeout', 'cut')
  const { scene, driver, rotation, states, outcomes } = rotating({ puts: [lost, lost] })
  expect(await passing(driver.run('compare'))).toBe(true)
  expect([states, outcomes]).toEqual([[SHOWN], ['unanswered']])
  expect(rotation()?.detail).toBe('the service may have taken it: postern_upstream_timeout')
  expect(scene.keys[0]?.offeredAtMs).not.toBeNull()
})

test.each<[string, SceneOptions, Errand]>([
  ['`/me` shows none', { keys: [NEW] }, 'compare'],
  ['`/me` shows a retired one', { keys: [OLD, RETIRED], shown: 'retired' }, 'compare'],
  ['`GET /me` fails', { keys: [NEW], looks: [null, serviceError(401)] }, 'compare'],
  ['`/me` shows a foreign one', { keys: [NEW], shown: 'theirs' }, 'replace'],
])('an attempt that fails while %s leaves the key unpublished', async (_, o, errand) => {
  const { driver, states, outcomes } = driving({ ...o, puts: [serviceError(403)] })
  await expect(passing(driver.run(errand))).rejects.toMatchObject({ status: 403 })
  expect(states.at(-1)).toBe('unpublished: waiting to publish: refused_403')
  // only a rotation has outcomes
  expect(outcomes).toEqual([])
})

test('an attempt that cannot be recorded on disk puts no key, and waits', async () => {
  const { scene, driver, rotation, states } = rotating()
  scene.marks.push(new Refusal('postern_store_unwritable'))
  await expect(passing(driver.run('compare'))).rejects.toThrow(refused('postern_store_unwritable'))
  expect([scene.steps, states]).toEqual([['me'], []])
  expect(rotation()).toMatchObject({ phase: 'waiting', detail: 'postern_store_unwritable' })
})

test('an attempt whose promotion cannot be written leaves the key unpublished', async () => {
  const { scene, driver, states } = rotating()
  scene.promotes.push(new Refusal('postern_store_unwritable'))
  await expect(passing(driver.run('compare'))).rejects.toThrow(refused('postern_store_unwritable'))
  expect(states).toEqual(['unpublished: postern_store_unwritable'])
  const shown = rotating({ shown: 'new' })
  shown.scene.promotes.push(new Refusal('postern_store_unwritable'))
  await expect(shown.driver.run('publish')).rejects.toThrow(refused('postern_store_unwritable'))
})

const lagging = async () => {
  const all = rotating()
  all.scene.shows = false
  expect(await passing(all.driver.run('compare'))).toBe(false)
  return { ...all, put: () => all.scene.steps.filter((step) => step.startsWith('put')).length }
}

test('an accepted key that `/me` does not show yet is put again after five minutes', async () => {
  const { driver, rotation, states, outcomes, put } = await lagging()
  expect([states, outcomes]).toEqual([[NOT_SHOWN], ['unconfirmed']])
  expect(rotation()).toMatchObject({
    phase: 'confirming',
    detail: 'the service took the key and does not show it yet',
  })
  vi.advanceTimersByTime(299_999)
  expect(await passing(driver.run('compare'))).toBe(false)
  expect([put(), states]).toEqual([1, [NOT_SHOWN, NOT_SHOWN]])
  vi.advanceTimersByTime(1)
  await passing(driver.run('compare'))
  expect(put()).toBe(2)
})

test('an accepted key becomes the active one once `/me` shows it', async () => {
  const { scene, driver, put } = await lagging()
  scene.shown = 'new'
  expect(await passing(driver.run('publish'))).toBe(true)
  expect([put(), scene.steps.at(-1)]).toEqual([1, 'promote new'])
  // it was taken and shown: what is shown afterwards is no lag
  scene.shown = 'old'
  scene.shows = true
  expect(await passing(driver.run('compare'))).toBe(true)
  expect(put()).toBe(2)
})

test('an accepted key is put again at once after `/me` showed a foreign one', async () => {
  const { scene, driver, states, put } = await lagging()
  scene.shown = 'theirs'
  expect(await passing(driver.run('compare'))).toBe(false)
  expect(states.at(-1)).toBe('conflict: the service lists theirs')
  scene.shown = 'old'
  scene.shows = true
  expect(await passing(driver.run('compare'))).toBe(true)
  expect(put()).toBe(2)
})

const LOST = new NoResponseError('postern_upstream_unreachable', 'cut')
const REFUSED = serviceError(409)
const OFFERED = [pendingKey('new', { offeredAtMs: 5 }), OLD]
const PUT = 'put certificate of new as new'

/** A rotation's attempt; `looks` are those after `PUT /key`, and the last fingerprint stays shown. */
function attempting(o: Parameters<typeof rotating>[0] & { looks: Look[] }) {
  const all = rotating({ ...o, looks: [null, ...o.looks] })
  all.scene.shows = false
  return all
}

/** One attempt, because the operator asks for a publication. */
async function attempted(o: Parameters<typeof attempting>[0]) {
  const { scene, driver, outcomes } = attempting(o)
  const publishing = driver.run('publish').catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  const error = await publishing
  const steps = scene.steps.slice(1)
  const of = (step: string): number => steps.filter((one) => one === step).length
  const tookMs = Date.now() - START_MS
  return { outcome: outcomes[0], error, steps, puts: of(PUT), looks: of('me'), tookMs }
}

test('a new key is recorded as offered before `PUT /key`, and promoted once `/me` shows it', async () => {
  const { outcome, steps, tookMs } = await attempted({ looks: ['NEW'] })
  expect([outcome, tookMs]).toEqual(['done', 0])
  expect(steps).toEqual(['mark new offered', PUT, 'me', 'promote new'])
  const again = await attempted({ keys: OFFERED, looks: ['new'] })
  expect(again.steps).toEqual([PUT, 'me', 'promote new'])
})

test('`/me` is read eight times within 16 s after the service accepted a key', async () => {
  const late = await attempted({ looks: ['old', 'old', 'old', 'new'] })
  expect([late.outcome, late.tookMs]).toEqual(['done', 250 + 500 + 1000])
  const never = await attempted({ looks: ['old'] })
  expect(never.outcome).toBe('unconfirmed')
  // it may be shown yet: it stays marked, and is offered once
  expect(never.steps).toEqual(['mark new offered', PUT, ...Array<string>(8).fill('me')])
})

test('a foreign fingerprint in `/me` ends an attempt, and no key is put over it', async () => {
  const accepted = await attempted({ looks: ['old', 'foreign'] })
  expect(accepted).toMatchObject({ outcome: 'unconfirmed', looks: 2 })
  const lost = await attempted({ puts: [LOST], looks: ['foreign'] })
  expect(lost).toMatchObject({ outcome: 'unanswered', puts: 1 })
})

test('a refused new key counts as never offered once `/me` still shows the old one', async () => {
  const { outcome, error, steps, tookMs } = await attempted({ puts: [REFUSED], looks: ['old'] })
  expect([outcome, error, tookMs]).toEqual(['refused', REFUSED, 0])
  expect(steps).toEqual(['mark new offered', PUT, 'me', 'mark new not offered'])
})

test('a refused key that an earlier process may have offered stays recorded as offered', async () => {
  const { steps } = await attempted({ keys: OFFERED, puts: [REFUSED], looks: ['old'] })
  expect(steps).toEqual([PUT, 'me'])
})

test('a key that `/me` shows although `PUT /key` was refused is promoted', async () => {
  expect((await attempted({ puts: [REFUSED], looks: ['new'] })).outcome).toBe('done')
})

test.each([
  ['no response', LOST],
  ['status 500', serviceError(500)],
])('the same key is put once more after %s to `PUT /key`, and stays recorded', async (_, error) => {
  const { outcome, steps, tookMs } = await attempted({ puts: [error, error], looks: ['old'] })
  expect([outcome, tookMs]).toEqual(['unanswered', 2 * (500 + 1500)])
  expect(steps).toEqual(['mark new offered', PUT, 'me', 'me', 'me', PUT, 'me', 'me', 'me'])
})

test('a lost response still counts when the second `PUT /key` is refused', async () => {
  const { outcome, error, steps } = await attempted({ puts: [LOST, REFUSED], looks: ['old'] })
  expect([outcome, error]).toEqual(['unanswered', REFUSED])
  expect(steps).not.toContain('mark new not offered')
})

test('a `GET /me` that fails is repeated, and one that is refused is not', async () => {
  const again = await attempted({ looks: [LOST, serviceError(500), 'new'] })
  expect(again.outcome).toBe('done')
  const once = await attempted({ looks: [serviceError(401), 'new'] })
  expect(once.outcome).toBe('unconfirmed')
  // what could not be asked is not what was there before
  const lost = await attempted({ puts: [LOST], looks: ['old', 'old', LOST] })
  expect(lost).toMatchObject({ outcome: 'unanswered', puts: 1 })
})

const reason = new Error('stopped')

/** An attempt that `stop` ends. @returns its steps */
async function ended(
  { scene, driver }: ReturnType<typeof attempting>,
  stop: (abort: () => void, scene: { onStep: () => void; steps: string[] }) => void,
  controller: AbortController,
): Promise<string[]> {
  stop(() => controller.abort(reason), scene)
  const publishing = driver.run('publish')
  publishing.catch(() => {})
  await vi.runAllTimersAsync()
  await expect(publishing).rejects.toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  return scene.steps
}
/** Stops at a step, which works or fails all the same. */
const at = (last: string) => (abort: () => void, scene: { onStep: () => void; steps: string[] }) =>
  void (scene.onStep = () => scene.steps.at(-1) === last && scene.steps.length > 1 && abort())
const MARKED = ['me', 'mark new offered', PUT]

test.each<[string, Parameters<typeof ended>[1], Error | null, string[]]>([
  ['before its begin', (abort) => abort(), null, []],
  ['in a pause', (abort) => void setTimeout(abort, 100), null, [...MARKED, 'me']],
  ['while the service accepts the key', at(PUT), null, MARKED],
  ['while `PUT /key` fails', at(PUT), serviceError(403), MARKED],
  ['while `GET /me` runs', at('me'), null, [...MARKED, 'me']],
])('a process that ends %s makes no further call', async (_, stop, put, steps) => {
  const all = attempting({ looks: ['old'], ...(put !== null && { puts: [put] }) })
  expect(await ended(all, stop, all.stop)).toEqual(steps)
})
