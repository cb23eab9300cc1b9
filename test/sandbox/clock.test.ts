import { expect, test } from 'vitest'
import { WorldClock } from '../../src/sandbox/clock.ts'

const never = new AbortController().signal

test('a still clock stands until it is moved', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 1000 })
  const order: string[] = []
  const late = clock.wait(20, never).then(() => order.push('late'))
  const early = clock.wait(10, never).then(() => order.push('early'))
  expect(clock.now()).toBe(1000)
  clock.advance(25)
  await Promise.all([late, early])
  expect([clock.now(), order]).toEqual([1025, ['early', 'late']])
})

test('what is not due yet goes on waiting', async () => {
  const clock = new WorldClock({ mode: 'still' })
  let due = false
  const waiting = clock.wait(10, never).then((over) => (due = over))
  clock.advance(9)
  await Promise.resolve()
  expect(due).toBe(false)
  clock.advance(1)
  expect(await waiting).toBe(true)
})

test('a running clock goes with real time and can be moved ahead of it', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  expect(await clock.wait(2, never)).toBe(true)
  expect(clock.now()).toBeGreaterThanOrEqual(5002)
  const waiting = clock.wait(3_600_000, never)
  clock.advance(3_600_000)
  expect(await waiting).toBe(true)
})

test('an aborted wait says so', async () => {
  const clock = new WorldClock({ mode: 'running' })
  const controller = new AbortController()
  const waiting = clock.wait(3_600_000, controller.signal)
  controller.abort()
  expect(await waiting).toBe(false)
  expect(await clock.wait(1, controller.signal)).toBe(false)
})

test('it moves forward only, by whole milliseconds', () => {
  const clock = new WorldClock({ mode: 'still' })
  for (const ms of [-1, 0.5, Number.NaN]) expect(() => clock.advance(ms)).toThrow(RangeError)
})
