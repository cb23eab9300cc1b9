/** How sightings change what is known of a chat, and how two of them become one. */
import { expect, test } from 'vitest'
import { Freshness, JUST_NOW_MS } from '../../../src/kernel/wall/grounds.ts'

const scene = () => {
  const clock = { ms: 50 }
  const readings: number[] = []
  const fresh = () => Promise.resolve(void readings.push(clock.ms))
  const time = { nowMs: () => 0, monotonicMs: () => clock.ms }
  return { clock, readings, freshness: new Freshness(fresh, time) }
}

test('a reading of the store counts as new for half a second, and is then repeated', async () => {
  const { clock, readings, freshness } = scene()
  expect(JUST_NOW_MS).toBe(500)
  for (const ms of [50, 549, 550, 1049, 1051]) {
    clock.ms = ms
    await freshness.renew()
  }
  expect(readings).toEqual([50, 550, 1051])
})

test('a decision is refused before the first reading of the store, and after one that is too old', async () => {
  const { clock, freshness } = scene()
  const refused = expect.objectContaining({
    code: 'postern_store_unwritable',
    message: expect.stringContaining('nothing was sent') as unknown,
  }) as unknown
  expect(() => freshness.requireWithin(1e9)).toThrow(refused)
  await freshness.renew()
  clock.ms = 149
  expect(() => freshness.requireWithin(100)).not.toThrow()
  clock.ms = 150
  expect(() => freshness.requireWithin(100)).toThrow(refused)
})
