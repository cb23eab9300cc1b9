import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { pruneHourly, tryWriting } from '../../src/wiring/probes.ts'
import { flags, open, temporary } from '../store/support.ts'

const HOUR_MS = 3_600_000

useFakeTime({ toFake: ['setInterval', 'clearInterval', 'Date'] })

test('the memory is pruned every hour', () => {
  const prune = vi.fn(async (_keysSinceMs: number | null) => {})
  using _upkeep = pruneHourly({ prune }, () => 7)
  vi.advanceTimersByTime(5 * HOUR_MS)
  expect(prune.mock.calls).toEqual([[7], [7], [7], [7], [7]])
})

test('a prune that fails stops neither the process nor the next one', async () => {
  const prune = vi.fn(() => Promise.reject(new Error('the disk is full')))
  using _upkeep = pruneHourly({ prune }, () => null)
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS)
  expect(prune.mock.calls.length).toBe(2)
})

test('nothing is pruned any more once the sidecar has ended', () => {
  const prune = vi.fn(async () => {})
  pruneHourly({ prune }, () => null)[Symbol.dispose]()
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
