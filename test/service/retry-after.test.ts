import { expect, test } from 'vitest'
import { retryAfterSeconds } from '../../src/service/service-error.ts'

test.each([
  ['rate_limited', '7', 60, 7],
  ['rate_limited', '90', 60, 90],
  ['rate_limited', undefined, 60, 60],
  ['rate_limited', 'soon', undefined, 5],
  ['flood_wait', '3', 12, 12],
  ['flood_wait', undefined, 12, 12],
  ['flood_wait', '-1', 12, 12],
  ['flood_wait', 'Sun, 06 Nov 1994 08:49:37 GMT', 12, 12],
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
  ['slow_mode', undefined, -5, 5],
  ['slow_mode', undefined, '7', 5],
  ['slow_mode', undefined, Infinity, 5],
  ['a_new_code', '3', 12, 12],
])('a 429 `%s` with Retry-After %s and body value %s waits %i s', (code, header, body, seconds) => {
  expect(retryAfterSeconds({ code, header, body })).toBe(seconds)
})
