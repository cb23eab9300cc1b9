/** Attempts at publishing a key, by what the service answers to `PUT /key` and then shows in `/me`. */
import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { NoResponseError } from '../../src/errors.ts'
import { OLD, pendingKey, rotating, START_MS, type Look } from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

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

describe('the end of the process', () => {
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
  const at =
    (last: string) => (abort: () => void, scene: { onStep: () => void; steps: string[] }) =>
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
})
