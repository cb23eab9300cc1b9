import { expect, test } from 'vitest'
import { traceParentOf } from '../../src/http/request-log.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const read = (traceparent: string) => traceParentOf({ traceparent })

test('`traceParentOf` reads trace, span and sampling of a traceparent header', () => {
  const caller = { traceId: TRACE, spanId: SPAN }
  expect(read(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...caller, isSampled: true })
  expect(read(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...caller, isSampled: false })
  expect(read(`00-${TRACE}-${SPAN}-02`)).toEqual({ ...caller, isSampled: false })
})

test('a traceparent of a later version may have more fields', () => {
  expect(read(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`)?.traceId).toBe(TRACE)
  expect(read(`cc-${TRACE}-${SPAN}-01`)?.spanId).toBe(SPAN)
})

test.each([
  ['no content', ''],
  ['zeros for the trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['zeros for the span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['no version that there is', `ff-${TRACE}-${SPAN}-01`],
  ['more fields than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
  ['more digits', `00-${TRACE}0-${SPAN}-01`],
  ['flags of one digit', `00-${TRACE}-${SPAN}-1`],
  ['a later version that goes on without a dash', `cc-${TRACE}-${SPAN}-01.more`],
  ['a space before it', ` 00-${TRACE}-${SPAN}-01`],
  ['a line break after it', `00-${TRACE}-${SPAN}-01\n`],
  ['a line break in a later version', `cc-${TRACE}-${SPAN}-01-a\nb`],
  ['the header twice, as Node joins it', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('a traceparent with %s is ignored', (_what, traceparent) => {
  expect(read(traceparent)).toBeNull()
})

test('`traceParentOf` returns null without a traceparent header', () => {
  expect(traceParentOf({})).toBeNull()
})

test('a traceparent of a megabyte is ignored', () => {
  expect(read(`00-${'a'.repeat(2 ** 20)}`)).toBeNull()
  expect(read('cc-'.repeat(2 ** 18))).toBeNull()
})
