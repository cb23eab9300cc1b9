import { expect, test } from 'vitest'
import { RepeatedFailures } from '../../src/http/request-log.ts'

const COUNTED_MS = 60_000
let nowMs = 0
let made = 0
const line = (
  status: number,
  route = '/bot/v1/updates',
  code = 'postern_upstream_unreachable',
) => ({ requestId: `r${(made += 1)}`, method: 'GET', route, status, code, ms: 1 })

test('repeated failures of one kind are counted, and logged once a minute', () => {
  const failures = new RepeatedFailures(() => nowMs)
  const first = line(502)
  expect(failures.linesFor(first)).toEqual([first])
  for (let again = 0; again < 3; again += 1) expect(failures.linesFor(line(502))).toEqual([])
  nowMs += COUNTED_MS
  const next = line(502)
  expect(failures.linesFor(next)).toEqual([{ ...next, again: 3 }])
  expect(failures.linesFor(line(502))).toEqual([])
  nowMs += COUNTED_MS
  const [third] = failures.linesFor(line(502))
  expect(third).toHaveProperty('again', 1)
  nowMs += COUNTED_MS
  const fourth = line(502)
  expect(failures.linesFor(fourth)).toEqual([fourth])
  nowMs += COUNTED_MS - 1
  expect(failures.linesFor(line(502))).toEqual([])
})

test('an answered call logs the counts of failures, and later lines are logged singly', () => {
  const failures = new RepeatedFailures(() => nowMs)
  const first = line(504)
  for (const failed of [first, line(504), line(504)]) failures.linesFor(failed)
  const answered = line(200)
  expect(failures.linesFor(answered)).toEqual([{ ...first, again: 2 }, answered])
  expect(failures.linesFor(line(504))).toHaveLength(1)
  expect(failures.linesFor(line(200))).toHaveLength(1)
})

test.each([
  ['another route', line(502, '/bot/v1/messages')],
  ['another code', line(502, '/bot/v1/updates', 'postern_upstream_invalid')],
  ['another status', line(503)],
  ['another method', { ...line(502), method: 'POST' }],
])('a failure of %s is logged as a line of its own', (_what, other) => {
  const failures = new RepeatedFailures(() => nowMs)
  failures.linesFor(line(502))
  expect(failures.linesFor(other)).toEqual([other])
})

test.each([
  ['a failure inside the sidecar', 500],
  ['a refusal', 409],
  ['a caller that hung up', 0],
])('the log line of %s is never counted', (_what, status) => {
  const failures = new RepeatedFailures(() => nowMs)
  for (const one of [line(status), line(status)]) expect(failures.linesFor(one)).toEqual([one])
})

test('a caller that hung up leaves the counts of failures, and an internal failure is logged after them', () => {
  const failures = new RepeatedFailures(() => nowMs)
  const first = line(502)
  for (const failed of [first, line(502)]) failures.linesFor(failed)
  const [hungUp, inside] = [line(0), line(500)]
  expect(failures.linesFor(hungUp)).toEqual([hungUp])
  expect(failures.linesFor(inside)).toEqual([{ ...first, again: 1 }, inside])
})
