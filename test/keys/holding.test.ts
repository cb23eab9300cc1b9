/** Sends wait while the key that signs them is replaced. */
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { OLD, passing, published, rotatingPublished, START_MS } from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

test('the replacement of a key waits for sends under way, and new sends wait for the replacement', async () => {
  const { scene, driver } = rotatingPublished()
  const first = await driver.enter()
  expect(first.signer).toEqual(OLD)
  const comparing = driver.run('compare')
  await vi.advanceTimersByTimeAsync(0)
  const second = driver.enter()
  await vi.advanceTimersByTimeAsync(100)
  expect(scene.steps).toEqual(['me'])
  first.leave()
  first.leave()
  expect(await passing(comparing)).toBe(true)
  expect((await second).signer.fingerprint).toBe('new')
  expect(scene.steps).toEqual(['me', 'mark new offered', ...published('new')])
  expect(vi.getTimerCount()).toBe(0)
})

test('a held send is refused when no key is published after the wait, and blocks no later publication', async () => {
  const { scene, driver } = rotatingPublished()
  const look = Promise.withResolvers<void>()
  scene.looks.push(null, look.promise)
  const comparing = driver.run('compare')
  comparing.catch(() => {})
  await vi.advanceTimersByTimeAsync(0)
  const sending = driver.enter()
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
  const sending = driver.enter()
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

test('a refused `PUT /key` admits held sends again, signed by the old key', async () => {
  const { scene, driver } = rotatingPublished()
  scene.puts.push(serviceError(403))
  await passing(driver.run('compare'))
  expect((await driver.enter()).signer).toEqual(OLD)
  expect(vi.getTimerCount()).toBe(0)
})
