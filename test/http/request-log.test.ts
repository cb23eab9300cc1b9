import { expect, test } from 'vitest'
import { countRepeated } from '../../src/http/request-log.ts'

const COUNTED_MS = 60_000
let nowMs = 0
let made = 0
const line = (
  status: number,
  route = '/bot/v1/updates',
  code = 'postern_upstream_unreachable',
) => ({ requestId: `r${(made += 1)}`, method: 'GET', route, status, code, ms: 1 })

test('repeated failures of one kind are counted, and logged once a minute', () => {
  const linesFor = countRepeated(() => nowMs)
  const first = line(502)
  expect(linesFor(first)).toEqual([first])
  for (let again = 0; again < 3; again += 1) expect(linesFor(line(502))).toEqual([])
  nowMs += COUNTED_MS
  const next = line(502)
  expect(linesFor(next)).toEqual([{ ...next, again: 3 }])
  expect(linesFor(line(502))).toEqual([])
  nowMs += COUNTED_MS
  const [third] = linesFor(line(502))
  expect(third).toHaveProperty('again', 1)
  nowMs += COUNTED_MS
  const fourth = line(502)
  expect(linesFor(fourth)).toEqual([fourth])
  nowMs += COUNTED_MS - 1
  expect(linesFor(line(502))).toEqual([])
})

test('an answered call logs the counts of failures, and later lines are logged singly', () => {
  const linesFor = countRepeated(() => nowMs)
  const first = line(504)
  for (const failed of [first, line(504), line(504)]) linesFor(failed)
  const answered = line(200)
  expect(linesFor(answered)).toEqual([{ ...first, again: 2 }, answered])
  expect(linesFor(line(504))).toHaveLength(1)
  expect(linesFor(line(200))).toHaveLength(1)
})

test.each([
  ['another route', line(502, '/bot/v1/messages')],
  ['another code', line(502, '/bot/v1/updates', 'postern_upstream_invalid')],
  ['another status', line(503)],
  ['another method', { ...line(502), method: 'POST' }],
])('a failure of %s is logged as a line of its own', (_what, other) => {
  const linesFor = countRepeated(() => nowMs)
  linesFor(line(502))
  expect(linesFor(other)).toEqual([other])
})

test.each([
  ['a failure inside the sidecar', 500],
  ['a refusal', 409],
  ['a caller that hung up', 0],
])('the log line of %s is never counted', (_what, status) => {
  const linesFor = countRepeated(() => nowMs)
  for (const one of [line(status), line(status)]) expect(linesFor(one)).toEqual([one])
})

test('a caller that hung up leaves the counts of failures, and an internal failure is logged after them', () => {
  const linesFor = countRepeated(() => nowMs)
  const first = line(502)
  for (const failed of [first, line(502)]) linesFor(failed)
  const [hungUp, inside] = [line(0), line(500)]
  expect(linesFor(hungUp)).toEqual([hungUp])
  expect(linesFor(inside)).toEqual([{ ...first, again: 1 }, inside])
})
