import { expect, onTestFinished, test, vi } from 'vitest'
import { Registry } from '@prometheus-io/client'
import { eventLoopDelay } from '../../src/observe/event-loop-delay.ts'

const WATCHED_MS = 10_000

async function shown(registry: Registry): Promise<number> {
  const line = /^p_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await registry.metrics())
  return Number(line?.[1])
}

/** Blocks the event loop, with a sample before and after. */
async function holdUp(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setTimeout(resolve, 60))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  await new Promise((resolve) => setTimeout(resolve, 60))
}

test('an idle event loop is not sampled, and shows no delay', async () => {
  const registry = new Registry()
  eventLoopDelay(registry, 'p_')
  await holdUp()
  expect(await shown(registry)).toBe(0)
})

test('a watched event loop shows its longest delay', async () => {
  const registry = new Registry()
  eventLoopDelay(registry, 'p_').watch()
  await holdUp()
  expect(await shown(registry)).toBeGreaterThan(0)
})

test('sampling of the event loop stops ten seconds after the last `watch`', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const registry = new Registry()
  const delay = eventLoopDelay(registry, 'p_')
  delay.watch()
  vi.advanceTimersByTime(WATCHED_MS - 1)
  delay.watch()
  vi.advanceTimersByTime(WATCHED_MS - 1)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1)
  vi.useRealTimers()
  await shown(registry)
  await holdUp()
  expect(await shown(registry)).toBe(0)
})
