import { expect, test } from 'vitest'
import { clockSkewMs, handedOn, inUtf8 } from '../../src/service/headers.ts'

/** The words of a text. */
const names = (text: string): string[] => text.trim().split(/\s+/)

test.each(
  names(`
    connection keep-alive proxy-authenticate www-authenticate trailer transfer-encoding upgrade
    content-length content-encoding content-disposition set-cookie alt-svc
    strict-transport-security cache-control expires pragma age vary etag last-modified date
    server link location content-location refresh clear-site-data x-accel-redirect
    x-accel-buffering x-sendfile x-reproxy-url x-postern-verdict x-ratelimit not-ratelimit-limit
    x-other access-control-allow-origin postern postern-verdict
  `),
)('`handedOn` drops the header %s', (name) => {
  expect(handedOn({ [name]: 'x', 'retry-after': '1' })).toEqual({ 'retry-after': '1' })
})

test.each(
  names(`
    content-type content-language content-range accept-ranges retry-after ratelimit
    ratelimit-policy ratelimit-remaining x-ratelimit-reset deprecation sunset x-request-id
    request-id x-correlation-id correlation-id x-trace-id
  `),
)('`handedOn` passes on the header %s', (name) => {
  expect(handedOn({ [name]: 'x', 'x-other': 'y' })).toEqual({ [name]: 'x' })
})

test('repeated lines of a header are passed on as one line', () => {
  const headers = { 'retry-after': '5', ratelimit: ['1', '2'], sunset: undefined }
  expect(handedOn(headers)).toEqual({ 'retry-after': '5', ratelimit: '1, 2', sunset: '' })
})

test('headers named by Connection are not passed on', () => {
  const headers = { deprecation: '1', sunset: '2', 'retry-after': '3' }
  const lists = ['Deprecation , Sunset', 'close,Deprecation,Sunset', ['deprecation', 'sunset']]
  for (const connection of lists) {
    expect(handedOn({ ...headers, connection })).toEqual({ 'retry-after': '3' })
  }
  expect(handedOn({ ...headers, connection: 'keep-alive' })).toEqual(headers)
})

test.each(['a\u0000b', 'a\nb', 'a\u007fb', 'aĀ', '\u001f'])(
  'a header value %j is not passed on',
  (value) => {
    expect(handedOn({ sunset: value })).toEqual({})
  },
)

test.each(['a\tb', ' ~', '\u0080ÿ', ''])('a header value %j is passed on', (value) => {
  expect(handedOn({ sunset: value })).toEqual({ sunset: value })
})

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json;charset=utf8 ',
  'text/html;  charset="utf8"  ',
  'text/plain',
  '',
])('the content type %j is kept as UTF-8', (type) => {
  const headers = { 'content-type': type }
  expect(inUtf8(headers)).toBe(headers)
})

test.each([
  'application/json; charset=utf-7',
  'application/json; charset=utf-16',
  'application/json; charset=cp037',
  'application/json; charset=iso-2022-jp',
  'application/json; charset="utf-8", x; charset=utf-7',
  'application/json; charset=utf-8; charset=utf-7',
  'application/json; charset=xutf-8',
  'application/json; boundary=1',
  'application/json, text/html',
  'text/html, a; charset=utf-8',
  'application/json; charset=utf-8x',
])('the content type %j is replaced by UTF-8', (type) => {
  expect(inUtf8({ 'content-type': type, 'x-a': '1' })).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'x-a': '1',
  })
})

const DATE = 'Thu, 01 Jan 2026 00:00:10 GMT'
const AT = Date.UTC(2026, 0, 1, 0, 0, 10)

test.each([
  ['the date is between request and response', -100, 100, 0],
  ['the call was long', -20_000, 20_000, 0],
  ['the date is cut to the second', 900, 950, 0],
  ['the request left at the end of that second', 1000, 1001, 0],
  ['the request left just after that second', 1001, 1200, 1],
  ['the clock is minutes ahead', 61_000, 61_500, 60_000],
  ['the response arrived within that second', -5, 0, 0],
  ['the clock is just behind', -20, -1, -1],
  ['the clock is minutes behind', -61_000, -60_000, -60_000],
])('`clockSkewMs` measures the skew when %s', (_name, sent, got, skew) => {
  expect(clockSkewMs(DATE, AT + sent, AT + got)).toBe(skew)
})

test.each([
  '',
  '2026-01-01T00:00:10Z',
  '784111777',
  'Thursday, 01 Jan 2026 00:00:10 GMT',
  `${DATE} x`,
  `${DATE}+0100`,
  `x ${DATE}`,
  'Thu, 01 Jan 2026 00:00:10 +0000',
  'Thu, 1 Jan 2026 00:00:10 GMT',
  'Thu, 01 Jan 26 00:00:10 GMT',
  'Thu, 01 Jan 2026 0:00:10 GMT',
  'Thu, 01 Jan 2026 00:0:10 GMT',
  'Thu, 01 Jan 2026 00:00:1 GMT',
  'thu, 01 Jan 2026 00:00:10 GMT',
  'Thu, 01 jan 2026 00:00:10 GMT',
  'Thu, 99 Jan 2026 00:00:10 GMT',
])('`clockSkewMs` returns null for the date %j', (date) => {
  expect(clockSkewMs(date, AT, AT)).toBeNull()
})
