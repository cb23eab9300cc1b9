/** Timers of many bots at rest on one timer of Node. */
import { expect, test, vi } from 'vitest'
import { LATER_MS, sharedTimers } from '../../src/util/shared-timers.ts'
import { useFakeTime } from '../support/fake-time.ts'

useFakeTime({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

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
