import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pruneHourly, tryWriting } from '../../src/wiring/upkeep.ts'
import { flags, open, temporary } from '../store/support.ts'

const HOUR_MS = 3_600_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** How often the memory against replays is pruned in five hours of such a clock. */
function prunedIn5Hours(skewMs: number | null): number {
  const prune = vi.fn(async (_keysSinceMs: number | null) => {})
  using _upkeep = pruneHourly({ prune }, { skewMs: () => skewMs, keysSinceMs: () => 7 })
  vi.advanceTimersByTime(5 * HOUR_MS)
  for (const call of prune.mock.calls) expect(call).toEqual([7])
  return prune.mock.calls.length
}

test('the memory is pruned every hour while our clock agrees with the service’s', () => {
  expect([0, -90_000, HOUR_MS].map(prunedIn5Hours)).toEqual([5, 5, 5])
})

test('nothing is forgotten by a clock that has jumped, or that nobody confirms', () => {
  const jumped = [31 * 24 * HOUR_MS, -31 * 24 * HOUR_MS, HOUR_MS + 1, null]
  expect(jumped.map(prunedIn5Hours)).toEqual([0, 0, 0, 0])
})

test('a prune that fails stops neither the process nor the next one', async () => {
  const prune = vi.fn(() => Promise.reject(new Error('the disk is full')))
  using _upkeep = pruneHourly({ prune }, { skewMs: () => 0, keysSinceMs: () => null })
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS)
  expect(prune.mock.calls.length).toBe(2)
})

test('nothing is pruned any more once the sidecar has ended', () => {
  const prune = vi.fn(async () => {})
  pruneHourly({ prune }, { skewMs: () => 0, keysSinceMs: () => null })[Symbol.dispose]()
  vi.advanceTimersByTime(5 * HOUR_MS)
  expect(prune).not.toHaveBeenCalled()
})

test('each trial of the disk writes another thing', async () => {
  const store = await open(temporary())
  const written: unknown[] = []
  for (let n = 0; n < 3; n++) {
    await tryWriting(store)
    written.push((await flags(store))['tried_writing_at'])
    vi.advanceTimersByTime(1000)
  }
  expect(new Set(written).size).toBe(3)
})
