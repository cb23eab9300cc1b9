import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { describe, expect, test } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { ClockOff } from '../../src/errors.ts'
import { Clocks } from '../../src/kernel/clocks.ts'

const NOW_MS = 1_000_000_000

useFakeTime({ now: NOW_MS, toFake: ['Date'] })

const ahead = (skewMs: number): Clocks => new Clocks(SYSTEM_TIME, () => NOW_MS - skewMs)
const UNKNOWN = new Clocks(SYSTEM_TIME, () => null)

test('`Clocks` has the earlier and the later of both clocks, and our clock where the service sends no Date', () => {
  expect([ahead(5).earliestMs(), ahead(5).latestMs()]).toEqual([NOW_MS - 5, NOW_MS])
  expect([ahead(-5).earliestMs(), ahead(-5).latestMs()]).toEqual([NOW_MS, NOW_MS + 5])
  expect([UNKNOWN.earliestMs(), UNKNOWN.latestMs()]).toEqual([NOW_MS, NOW_MS])
})

describe('the creation time of a key', () => {
  test('`agreedMs` is our clock within two minutes of the service, and without a Date of the service', () => {
    const agreeing = [ahead(120_000), ahead(-120_000), ahead(0), UNKNOWN]
    expect(agreeing.map((clocks) => clocks.agreedMs())).toEqual(agreeing.map(() => NOW_MS))
  })

  test.each([
    [120_001, 'our clock is 120 s ahead of the service’s: no key is made'],
    [-121_600, 'our clock is 122 s behind the service’s: no key is made'],
  ])('`agreedMs` throws where our clock is %i ms ahead: %s', (skewMs, message) => {
    expect(() => ahead(skewMs).agreedMs()).toThrow(ClockOff)
    expect(() => ahead(skewMs).agreedMs()).toThrow(
      expect.objectContaining({ code: 'refused', message, hint: expect.stringContaining('clock') }),
    )
  })
})

describe('the time for verdicts', () => {
  test('`nowMs` is our clock while both clocks agree within two minutes or the service sends no Date', () => {
    for (const clocks of [ahead(120_000), ahead(-120_000), UNKNOWN]) {
      expect([clocks.nowMs(), clocks.expiryNowMs()]).toEqual([NOW_MS, NOW_MS])
    }
    expect([ahead(120_000).agree(), UNKNOWN.agree()]).toEqual([true, false])
  })

  test('`nowMs` is the clock of the service where the clocks differ by more than two minutes', () => {
    for (const skewMs of [120_001, -120_001, NOW_MS - 5]) {
      const clocks = ahead(skewMs)
      expect([clocks.nowMs(), clocks.expiryNowMs()]).toEqual([NOW_MS - skewMs, NOW_MS - skewMs])
      expect(clocks.agree()).toBe(false)
    }
  })

  test('`expiryNowMs` is never before the last agreement of both clocks', () => {
    let skewMs = 0
    const clocks = new Clocks(SYSTEM_TIME, () => Date.now() - skewMs)
    expect(clocks.agree()).toBe(true)
    skewMs = 40 * 86_400_000
    expect(clocks.nowMs()).toBe(NOW_MS - skewMs)
    expect(clocks.expiryNowMs()).toBeGreaterThanOrEqual(NOW_MS - 1)
    expect(Number.isInteger(clocks.expiryNowMs())).toBe(true)
  })

  test('`Clocks` does not know the time where our clock is behind a passed time and the service sends no Date', () => {
    const silent = new Clocks(SYSTEM_TIME, () => null)
    silent.passed(NOW_MS)
    expect([silent.isKnown(), silent.isBehind()]).toEqual([true, false])
    silent.passed(NOW_MS + 1)
    silent.passed(NOW_MS)
    expect([silent.isKnown(), silent.isBehind()]).toEqual([false, true])
    const dated = ahead(-5)
    dated.passed(NOW_MS + 1)
    expect([dated.isKnown(), dated.isBehind()]).toEqual([true, true])
  })
})
