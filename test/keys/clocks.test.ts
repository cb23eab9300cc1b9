import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ClockOff, Clocks } from '../../src/keys/clocks.ts'

const NOW_MS = 1_000_000_000

beforeEach(() => {
  vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const ahead = (skewMs: number): Clocks => new Clocks(() => NOW_MS - skewMs)
const UNKNOWN = new Clocks(() => null)

test('the earlier and the later of both clocks; ours alone while the other is unknown', () => {
  expect([ahead(5).earliestMs(), ahead(5).latestMs()]).toEqual([NOW_MS - 5, NOW_MS])
  expect([ahead(-5).earliestMs(), ahead(-5).latestMs()]).toEqual([NOW_MS, NOW_MS + 5])
  expect([UNKNOWN.earliestMs(), UNKNOWN.latestMs()]).toEqual([NOW_MS, NOW_MS])
})

describe('the time that a key is dated by', () => {
  test.each([120_000, -120_000, 0])('is ours where the clocks differ by %i ms', (skewMs) => {
    expect(ahead(skewMs).agreedMs()).toBe(NOW_MS)
  })

  test('is ours while the service’s is unknown', () => {
    expect(UNKNOWN.agreedMs()).toBe(NOW_MS)
  })

  test.each([
    [120_001, 'our clock is 120 s ahead of the service’s: no key is made'],
    [-121_600, 'our clock is 122 s behind the service’s: no key is made'],
  ])('is none where ours is %i ms ahead', (skewMs, message) => {
    expect(() => ahead(skewMs).agreedMs()).toThrow(ClockOff)
    expect(() => ahead(skewMs).agreedMs()).toThrow(
      expect.objectContaining({ code: 'refused', message, hint: expect.stringContaining('clock') }),
    )
  })
})
