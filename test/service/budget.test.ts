import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { Budget } from '../../src/service/budget.ts'
import { failing } from './support.ts'
import { refused } from '../support/refused.ts'

useFakeTime({ now: 0 })

const WINDOW_MS = 60_000
const never = new AbortController().signal

/** A budget whose calls note when they began, by the fake clock. */
function scene(limit: number) {
  const state = { limit }
  const budget = new Budget(() => state.limit, WINDOW_MS)
  const startedAtMs = performance.now()
  const began: [name: string, atMs: number][] = []
  const take = (name: string, withinMs = 10 * WINDOW_MS, signal = never): Promise<void> =>
    budget
      .take(performance.now() + withinMs, signal)
      .then(() => void began.push([name, Math.round(performance.now() - startedAtMs)]))
  return { budget, began, take, state }
}

test('a `Budget` starts as many calls as its window allows, and the next once the first left the window', async () => {
  const { budget, began, take } = scene(2)
  await take('a')
  await vi.advanceTimersByTimeAsync(1000)
  await take('b')
  expect(budget.used).toBe(2)
  const waiting = ['c', 'd', 'e'].map((name) => take(name))
  await vi.advanceTimersByTimeAsync(58_999)
  expect(began.map(([name]) => name)).toEqual(['a', 'b'])
  await vi.advanceTimersByTimeAsync(WINDOW_MS * 2)
  await Promise.all(waiting)
  expect(began.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e'])
  for (const [index, ms] of [0, 1000, 60_000, 61_000, 120_000].entries()) {
    expect(Math.abs((began[index]?.[1] ?? NaN) - ms)).toBeLessThanOrEqual(3)
  }
})

test('a `Budget` whose limit is below 1 starts one call', () => {
  expect(scene(0.5).budget.limit).toBe(1)
})

test('a call whose turn is after its deadline is refused at once with the time until its turn', async () => {
  const { budget, take } = scene(1)
  await take('a')
  void take('b')
  const busy = refused('postern_busy', 'used up', { extra: { retryAfter: 120 } })
  await expect(take('c', 119_000)).rejects.toThrow(busy)
  expect(budget.used).toBe(1)
})

test('a call whose turn is just before its deadline waits for the turn', async () => {
  const { began, take } = scene(1)
  await take('a')
  const waiting = take('b', WINDOW_MS + 2)
  await vi.advanceTimersByTimeAsync(WINDOW_MS + 2)
  await waiting
  expect(began).toHaveLength(2)
})

test('a waiting call is refused at its deadline after the limit shrank', async () => {
  const { take, state, budget, began } = scene(2)
  await take('a')
  await take('b')
  const waiting = failing(take('c', 61_000))
  const later = take('d', 500_000)
  await vi.advanceTimersByTimeAsync(30_000)
  state.limit = 1
  budget.count()
  await vi.advanceTimersByTimeAsync(31_002)
  expect(await waiting).toMatchObject({ code: 'postern_busy', extra: { retryAfter: 29 } })
  expect(began.map(([name]) => name)).toEqual(['a', 'b'])
  await vi.advanceTimersByTimeAsync(29_000)
  await later
})

test('an aborted call uses nothing of the `Budget`', async () => {
  const { budget, take } = scene(1)
  expect((await failing(take('a', 1000, AbortSignal.abort()))).code).toBe(
    'postern_upstream_timeout',
  )
  expect(budget.used).toBe(0)
})

test('a waiting call that is aborted leaves its turn to the next call', async () => {
  const { began, take } = scene(1)
  const gone = new AbortController()
  await take('a')
  const first = failing(take('b', 10 * WINDOW_MS, gone.signal))
  const second = take('c')
  gone.abort()
  expect((await first).code).toBe('postern_upstream_timeout')
  await vi.advanceTimersByTimeAsync(WINDOW_MS)
  await second
  expect(began.map(([name]) => name)).toEqual(['a', 'c'])
})

test('the last waiting call that is aborted leaves no timer and no listener', async () => {
  const { take } = scene(1)
  const gone = new AbortController()
  const added = vi.spyOn(gone.signal, 'addEventListener')
  const removed = vi.spyOn(gone.signal, 'removeEventListener')
  await take('a')
  const waiting = failing(take('b', 10 * WINDOW_MS, gone.signal))
  expect(vi.getTimerCount()).toBe(1)
  gone.abort()
  await waiting
  expect(vi.getTimerCount()).toBe(0)
  expect(removed.mock.calls).toEqual([added.mock.calls[0]?.slice(0, 2)])
})
