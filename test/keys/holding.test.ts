/** Sends wait while the key that signs them is replaced. */
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { OLD, passing, published, rotatingPublished, START_MS } from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: START_MS })

test('sends wait while a key may change, and what changes it waits for the sends', async () => {
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

test('a send that waited is refused when nothing is published then, and holds up nothing', async () => {
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

test('a send is refused at once where nothing is published before it would wait', async () => {
  const { scene, driver } = rotatingPublished()
  scene.shown = 'theirs'
  await driver.run('compare')
  await expect(driver.enter()).rejects.toMatchObject({ code: 'postern_key_conflict' })
})

test('past twenty seconds sends are refused rather than held, until it is known better', async () => {
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

test('what fails while sends are held lets them in again', async () => {
  const { scene, driver } = rotatingPublished()
  scene.puts.push(serviceError(403))
  await passing(driver.run('compare'))
  expect((await driver.enter()).signer).toEqual(OLD)
  expect(vi.getTimerCount()).toBe(0)
})
