import { describe, expect, test } from 'vitest'
import { clockSkewMs } from '../../src/upstream/headers.ts'
import { retryAfterSeconds } from '../../src/upstream/service-error.ts'

describe('how long a 429 asks to wait', () => {
  test.each([
    ['rate_limited', '7', 60, 7],
    ['rate_limited', '90', 60, 90],
    ['rate_limited', undefined, 60, 60],
    ['rate_limited', 'soon', undefined, 5],
    ['flood_wait', '3', 12, 12],
    ['flood_wait', '30', 12, 30],
    ['flood_wait', undefined, 12, 12],
    ['flood_wait', '-1', 12, 12],
    ['flood_wait', 'soon', 12, 12],
    ['flood_wait', 'Sun, 06 Nov 1994 08:49:37 GMT', 12, 12],
    ['flood_wait', '7.5', 12, 12],
    ['flood_wait', '0x10', 12, 12],
    ['flood_wait', '1000000000', 12, 3600],
    ['slow_mode', ' 4 ', undefined, 4],
    ['slow_mode', '4', -9, 4],
    ['slow_mode', '4', 'nine', 4],
    ['slow_mode', undefined, 2.2, 3],
    ['slow_mode', undefined, 10 ** 9, 3600],
    ['slow_mode', undefined, Number.NaN, 5],
    ['slow_mode', undefined, undefined, 5],
    ['slow_mode', '0', 0, 1],
    ['a_new_code', '3', 12, 12],
  ])('%s, header %s, body %s: %i s', (code, header, body, seconds) => {
    expect(retryAfterSeconds({ code, header, body })).toBe(seconds)
  })
})

describe('how far our clock is off', () => {
  const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const AT = Date.UTC(1994, 10, 6, 8, 49, 37)
  test.each([
    ['the same second', AT, AT + 999, 0],
    ['a date cut to the second', AT + 900, AT + 950, 0],
    ['a call that took long', AT - 20_000, AT + 20_000, 0],
    ['surely ahead', AT + 61_000, AT + 61_500, 60_000],
    ['surely behind', AT - 61_000, AT - 60_000, -60_000],
  ])('%s', (_what, sentAt, gotAt, skewMs) => {
    expect(clockSkewMs(DATE, sentAt, gotAt)).toBe(skewMs)
  })

  test.each(['', '1994-11-06T08:49:37Z', 'Sun, 99 Nov 1994 99:49:37 GMT', '784111777'])(
    '%j is no date',
    (date) => expect(clockSkewMs(date, AT, AT)).toBeNull(),
  )
})
