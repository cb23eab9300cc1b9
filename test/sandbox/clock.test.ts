import { expect, test } from 'vitest'
import { WorldClock } from '../../src/sandbox/clock.ts'

const never = new AbortController().signal
/** Long enough for what was woken to run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a still clock stands until it is moved', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 1000 })
  const order: string[] = []
  void clock.wait(20, never).then(() => order.push('late'))
  void clock.wait(10, never).then(() => order.push('early'))
  expect(clock.now()).toBe(1000)
  await clock.advance(25, settle)
  expect([clock.now(), order]).toEqual([1025, ['early', 'late']])
})

test('each wait ends at its time, also those that begin on the way', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 0 })
  const ended: [string, number][] = []
  const note = (name: string) => ended.push([name, clock.now()])
  void clock
    .wait(10, never)
    .then(() => note('first'))
    .then(() => clock.wait(10, never))
    .then(() => note('began at 10'))
  void clock.wait(15, never).then(() => note('second'))
  void clock.wait(15, never).then(() => note('third'))
  void clock.wait(101, never).then(() => note('too late'))
  await clock.advance(100, settle)
  expect(ended).toEqual([
    ['first', 10],
    ['second', 15],
    ['third', 15],
    ['began at 10', 20],
  ])
  expect(clock.now()).toBe(100)
})

test('a wait ends when what the one before set in motion has settled', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 0 })
  const order: string[] = []
  for (const ms of [1, 2]) void clock.wait(ms, never).then(() => order.push(`wait ${ms}`))
  await clock.advance(5, async () => {
    await settle()
    order.push(`settled at ${clock.now()}`)
  })
  expect(order).toEqual(['settled at 0', 'wait 1', 'settled at 1', 'wait 2', 'settled at 2'])
})

test('what is not due yet goes on waiting', async () => {
  const clock = new WorldClock({ mode: 'still' })
  let due = false
  const waiting = clock.wait(10, never).then((over) => (due = over))
  await clock.advance(9, settle)
  expect(due).toBe(false)
  await clock.advance(1, settle)
  expect(await waiting).toBe(true)
})

test('two advances at once are done one after the other', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 0 })
  await Promise.all([clock.advance(10, settle), clock.advance(5, settle)])
  expect(clock.now()).toBe(15)
})

test('a running clock goes with real time and can be moved ahead of it', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  expect(await clock.wait(2, never)).toBe(true)
  expect(clock.now()).toBeGreaterThanOrEqual(5002)
  const waiting = clock.wait(3_600_000, never)
  await clock.advance(3_600_000, settle)
  expect(await waiting).toBe(true)
})

test('a running clock stands while it is moved, and runs on from there', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  const waiting = clock.wait(1000, never)
  const times: number[] = []
  await clock.advance(3000, async () => {
    times.push(clock.now())
    await new Promise((resolve) => setTimeout(resolve, 5))
    times.push(clock.now())
  })
  const [start = 0, stillStart, due = 0, stillDue] = times
  expect([stillStart, stillDue]).toEqual([start, due])
  expect(await waiting).toBe(true)
  expect(clock.now()).toBeGreaterThanOrEqual(start + 3000)
  expect(await clock.wait(2, never)).toBe(true)
})

test('a running clock can be stopped, and let run on from the time it has', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  const waiting = clock.wait(2, never)
  clock.mode = 'still'
  const stoodAt = clock.now()
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(clock.now()).toBe(stoodAt)
  expect(clock.state).toEqual({ mode: 'still', nowMs: stoodAt })
  clock.mode = 'running'
  expect(clock.now()).toBeLessThan(stoodAt + 10)
  expect(await waiting).toBe(true)
})

test('a clock that is stopped while it is moved reaches the end of the move', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  const moving = clock.advance(1000, settle)
  clock.mode = 'still'
  await moving
  const stoodAt = clock.now()
  expect(stoodAt).toBeGreaterThanOrEqual(6000)
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(clock.now()).toBe(stoodAt)
})

test('a clock that is let run while it is moved runs from the end of the move', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 5000 })
  const due = clock.wait(500, never)
  await clock.advance(1000, async () => {
    clock.mode = 'running'
    const before = clock.now()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(clock.now()).toBe(before)
  })
  expect(await due).toBe(true)
  expect(await clock.wait(2, never)).toBe(true)
  expect(clock.now()).toBeGreaterThanOrEqual(6002)
})

test('an aborted wait says so', async () => {
  const clock = new WorldClock({ mode: 'running' })
  const controller = new AbortController()
  const waiting = clock.wait(3_600_000, controller.signal)
  controller.abort()
  expect(await waiting).toBe(false)
  expect(await clock.wait(1, controller.signal)).toBe(false)
})

test('it moves forward only, by whole milliseconds', async () => {
  const clock = new WorldClock({ mode: 'still' })
  for (const ms of [-1, 0.5, Number.NaN]) {
    await expect(clock.advance(ms, settle)).rejects.toThrow(RangeError)
  }
})
