import { expect, test } from 'vitest'
import { WorldClock } from '../../src/sandbox/clock.ts'

const never = new AbortController().signal
/** Long enough for what was woken to run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('each wait on an advancing clock ends at its time, also one that begins during the advance', async () => {
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

test('an advance settles the effects of each ended wait before the next wait ends', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 0 })
  const order: string[] = []
  for (const ms of [1, 2]) void clock.wait(ms, never).then(() => order.push(`wait ${ms}`))
  await clock.advance(5, async () => {
    await settle()
    order.push(`settled at ${clock.now()}`)
  })
  expect(order).toEqual(['settled at 0', 'wait 1', 'settled at 1', 'wait 2', 'settled at 2'])
})

test('two concurrent advances add up', async () => {
  const clock = new WorldClock({ mode: 'still', startMs: 0 })
  await Promise.all([clock.advance(10, settle), clock.advance(5, settle)])
  expect(clock.now()).toBe(15)
})

test('a running clock has one time while it settles an advance, and then continues from the end', async () => {
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

test('a clock that is stopped during an advance still reaches the end of the advance', async () => {
  const clock = new WorldClock({ mode: 'running', startMs: 5000 })
  const moving = clock.advance(1000, settle)
  clock.mode = 'still'
  await moving
  const stoodAt = clock.now()
  expect(stoodAt).toBeGreaterThanOrEqual(6000)
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(clock.now()).toBe(stoodAt)
})

test('a clock that is started during an advance runs from the end of the advance', async () => {
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

test('a wait whose signal is aborted resolves to false', async () => {
  const clock = new WorldClock({ mode: 'running' })
  const controller = new AbortController()
  const waiting = clock.wait(3_600_000, controller.signal)
  controller.abort()
  expect(await waiting).toBe(false)
  expect(await clock.wait(1, controller.signal)).toBe(false)
})

test('`advance` by a negative, fractional or NaN duration rejects with a RangeError', async () => {
  const clock = new WorldClock({ mode: 'still' })
  for (const ms of [-1, 0.5, Number.NaN]) {
    await expect(clock.advance(ms, settle)).rejects.toThrow(RangeError)
  }
})
