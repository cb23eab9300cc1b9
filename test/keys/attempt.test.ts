import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import type { Errand } from '../../src/keys/life/life.ts'
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
import { refused } from '../support/refused.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

const RETIRED = keyOf('retired', { state: 'retired' })
const SHOWN = 'published: the key is published'
const NOT_SHOWN = 'unpublished: the service took the key and does not show it yet'

describe('an attempt', () => {
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

  test('the log announces the consequence of the first publication alone', async () => {
    const { scene, driver } = driving({ keys: [NEW] })
    await passing(driver.run('compare'))
    expect(scene.logged('info')[0]).toEqual({
      fingerprint: 'new',
      msg: 'publishing the bot’s key: its private chats become encrypted for good',
    })
    // what was never a rotation does not end as one
    expect(scene.logged('info').map(({ msg }) => msg)).not.toContain('the bot’s key is rotated')
  })

  test('an attempt waits for the sends under way', async () => {
    const { scene, driver, rotation } = rotatingPublished()
    const { leave } = await driver.enter()
    const comparing = driver.run('compare')
    await vi.advanceTimersByTimeAsync(1000)
    expect([scene.steps, rotation()?.phase]).toEqual([['me'], 'holding'])
    leave()
    expect(await passing(comparing)).toBe(true)
    expect(scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
  })

  test('an attempt that waits for sends ends with the process', async () => {
    const { scene, driver, stop } = rotatingPublished()
    await driver.enter()
    const comparing = driver.run('compare')
    await vi.advanceTimersByTimeAsync(0)
    const reason = new Error('stopped')
    stop.abort(reason)
    await expect(comparing).rejects.toBe(reason)
    expect(scene.steps).toEqual(['me'])
  })

  test('a refused attempt is repeated after Retry-After, and the old key stays published', async () => {
    const { scene, driver, rotation, states, outcomes } = rotating({
      puts: [serviceError(429, 90)],
    })
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
    await expect(passing(driver.run('compare'))).rejects.toThrow(
      refused('postern_store_unwritable'),
    )
    expect([scene.steps, states]).toEqual([['me'], []])
    expect(rotation()).toMatchObject({
      phase: 'waiting',
      detail: 'postern_store_unwritable',
    })
  })

  test('an attempt whose promotion cannot be written leaves the key unpublished', async () => {
    const { scene, driver, states } = rotating()
    scene.promotes.push(new Refusal('postern_store_unwritable'))
    await expect(passing(driver.run('compare'))).rejects.toThrow(
      refused('postern_store_unwritable'),
    )
    expect(states).toEqual(['unpublished: postern_store_unwritable'])
    const shown = rotating({ shown: 'new' })
    shown.scene.promotes.push(new Refusal('postern_store_unwritable'))
    await expect(shown.driver.run('publish')).rejects.toThrow(refused('postern_store_unwritable'))
  })
})

describe('a key that the service accepted and does not show', () => {
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
})
