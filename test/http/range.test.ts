import { expect, test } from 'vitest'
import { readRange } from '../../src/http/routes/media.ts'
import { fc } from '../support/property.ts'

const file = { bytes: 1000, tag: '"tag"' }
const whole = null
const none = 'unsatisfiable'
const part = (start: number, end: number) => ({ start, end })

test.each([
  [undefined, undefined, whole],
  ['bytes=0-0', undefined, part(0, 1)],
  ['bytes=10-19', undefined, part(10, 20)],
  ['BYTES=10-10', undefined, part(10, 11)],
  ['bytes=10-', undefined, part(10, 1000)],
  ['bytes=990-5000', undefined, part(990, 1000)],
  ['bytes=999-', undefined, part(999, 1000)],
  ['bytes=1000-', undefined, none],
  ['bytes=1000-1001', undefined, none],
  ['bytes=-1', undefined, part(999, 1000)],
  ['bytes=-1000', undefined, part(0, 1000)],
  ['bytes=-5000', undefined, part(0, 1000)],
  ['bytes=-0', undefined, none],
  [`bytes=${'9'.repeat(15)}-`, undefined, none],
  [`bytes=${'9'.repeat(16)}-`, undefined, none],
  ['bytes= 10-19 ', undefined, part(10, 20)],
  ['bytes=20-10', undefined, whole],
  ['bytes=-', undefined, whole],
  ['bytes=', undefined, whole],
  ['bytes=1', undefined, whole],
  ['bytes=1-2,4-5', undefined, whole],
  ['bytes=a-b', undefined, whole],
  ['x bytes=1-2', undefined, whole],
  ['chunks=1-2', undefined, whole],
  ['bytes=10-19', '"tag"', part(10, 20)],
  ['bytes=10-19', '"other"', whole],
  ['bytes=1000-', '"other"', whole],
])('the range %s with If-Range %s is %o of 1000 bytes', (range, ifRange, expected) => {
  expect(readRange({ range, ifRange }, file)).toEqual(expected)
})

test('a range read from any header is within the file and not empty', () => {
  const number = fc.option(fc.nat({ max: 1500 }), { nil: '' })
  const ranges = fc.tuple(number, number).map((ends) => `bytes=${ends.join('-')}`)
  fc.assert(
    fc.property(fc.oneof(ranges, fc.string()), (range) => {
      const found = readRange({ range, ifRange: undefined }, file)
      if (found === null || found === 'unsatisfiable') return
      expect(found.start).toBeGreaterThanOrEqual(0)
      expect(found.end).toBeLessThanOrEqual(1000)
      expect(found.end).toBeGreaterThan(found.start)
    }),
  )
})
