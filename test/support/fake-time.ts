import { afterEach, beforeEach, vi } from 'vitest'

/**
 * Each test of a file has fake timers, which end with it.
 * @param options of `vi.useFakeTimers`
 * @param ranMs how long they have run already
 */
export function useFakeTime(options: Parameters<typeof vi.useFakeTimers>[0] = {}, ranMs = 0): void {
  beforeEach(() => {
    vi.useFakeTimers(options)
    vi.advanceTimersByTime(ranMs)
  })
  afterEach(() => void vi.useRealTimers())
}
