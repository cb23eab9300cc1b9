/** Timers of many bots at rest on one timer of Node. */
import { expect, test, vi } from 'vitest'
import type { ServiceWatch } from '../../src/observe/service-watch.ts'
import { LATER_MS, sharedTimers } from '../../src/util/shared-timers.ts'
import { startWatch, useWatchTime } from '../observe/watch-scene.ts'

useWatchTime()

test('1,000 timers that are due within a second use one timer of Node, none early or a second late', async () => {
  const later = sharedTimers()
  const late: number[] = []
  await vi.advanceTimersByTimeAsync(250)
  const dueMs = 50_000.5
  for (let n = 0; n < 1000; n++) {
    const atMs = dueMs + n * 0.999
    later(atMs - performance.now(), () => late.push(performance.now() - atMs))
  }
  expect(vi.getTimerCount()).toBe(1)
  later(60_000, () => {})
  expect(vi.getTimerCount()).toBe(2)
  await vi.advanceTimersByTimeAsync(52_000)
  expect(late).toHaveLength(1000)
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...late)).toBeLessThanOrEqual(LATER_MS)
})

test('a shared timer that was ended does not fire, also where another of its second ends it', async () => {
  const later = sharedTimers()
  const fired: string[] = []
  const work = () => void fired.push('kept')
  later(1500, work)
  later(1500, work)
  const end = later(1500, () => fired.push('ended'))
  later(1100, () => endNext())
  const endNext = later(1900, () => fired.push('ended by another'))
  end()
  await vi.advanceTimersByTimeAsync(3000)
  expect(fired).toEqual(['kept', 'kept'])
})

test('watches of 100 bots at rest probe in one turn, and one that has traffic in its own time', async () => {
  const later = sharedTimers()
  const askedAt: number[] = []
  const watches = Array.from({ length: 100 }, () => {
    const probesOf = (watch: ServiceWatch) => ({
      askService: async () => {
        askedAt.push(Math.round(performance.now()))
        watch.answered({ route: 'GET /me', status: 200 })
      },
    })
    return startWatch(probesOf, later).watch
  })
  const turns = async (ms: number): Promise<number[]> => {
    await vi.advanceTimersByTimeAsync(ms)
    return [askedAt.length, new Set(askedAt).size]
  }
  expect(watches[0]?.isAtRest()).toBe(true)
  expect(await turns(45_000)).toEqual([100, 1])
  expect(await turns(7000)).toEqual([200, 2])
  watches[0]?.noteTraffic()
  expect(await turns(10_000)).toEqual([201, 3])
})
