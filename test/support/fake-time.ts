import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { afterEach, beforeEach, onTestFinished, vi } from 'vitest'

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

/** Time that passes at once, by the monotonic clock, until the test ends; timers run as ever. */
export function passing(): (ms: number) => void {
  const now = performance.now.bind(performance)
  let passedMs = 0
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs)
  onTestFinished(() => spy.mockRestore())
  return (ms) => void (passedMs += ms)
}

/** The pauses that are made by `node:timers/promises` until the test ends; they take no time. */
export function pauses(): number[] {
  const made: number[] = []
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms, value) => {
    made.push(ms ?? 0)
    return value
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return made
}
