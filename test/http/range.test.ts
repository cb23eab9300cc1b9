import { expect, test } from 'vitest'
import { readRange } from '../../src/http/range.ts'
import { fc } from '../support/property.ts'

const file = { bytes: 1000, tag: '"tag"' }

test('whatever range comes, a part lies within the file and is not empty', () => {
  const number = fc.option(fc.nat({ max: 1500 }), { nil: '' })
  fc.assert(
    fc.property(number, number, (first, last) => {
      const part = readRange({ range: `bytes=${first}-${last}`, ifRange: undefined }, file)
      if (part === null || part === 'unsatisfiable') return
      expect(part.start).toBeGreaterThanOrEqual(0)
      expect(part.end).toBeLessThanOrEqual(1000)
      expect(part.end).toBeGreaterThan(part.start)
    }),
  )
})

test('whatever else comes, it is a part, nothing of it, or all', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (range, ifRange) => {
      const part = readRange({ range, ifRange }, file)
      expect(part === null || part === 'unsatisfiable' || part.end <= 1000).toBe(true)
    }),
  )
})
