import { expect, test } from 'vitest'
import { deliveredText, textProblem } from '../../src/api/text.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

/** Texts made of what the rules are about. */
const pieces = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '\n\n',
  '\r',
  '\r\n',
  '\t',
  '\u0000',
  '\u0085',
  '🏯',
  'é',
)
const text = fc.oneof(
  fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(fc.integer({ min: 3990, max: 4010 }), fc.array(pieces, { maxLength: 30 }))
    .map(([length, parts]) => 'x'.repeat(length) + parts.join('')),
)

test('a delivered text has the readable shape for every sealed text', () => {
  fc.assert(
    fc.property(text, (sealed) => {
      const shaped = deliveredText(sealed)
      expect(shaped.length).toBeLessThanOrEqual(4000)
      expect(shaped.isWellFormed()).toBe(true)
      expect(shaped).not.toMatch(/\r|\n{3}|^\s/)
      if (shaped.length < 3999) expect(shaped).not.toMatch(/\s$/)
      if (shaped !== '') expect(textProblem(shaped)).toBe(null)
    }),
    { numRuns: runs(1000) },
  )
})

test('`deliveredText` adds nothing, removes no letter and is idempotent', () => {
  fc.assert(
    fc.property(text, (sealed) => {
      const letters = (words: string) => words.replace(/[\s\p{Cc}]/gu, '')
      const shaped = deliveredText(sealed)
      expect(letters(sealed).startsWith(letters(shaped))).toBe(true)
      if (shaped.length < 3999) {
        expect(letters(shaped)).toBe(letters(sealed))
        expect(deliveredText(shaped)).toBe(shaped)
      }
    }),
    { numRuns: runs(1000) },
  )
})

test('a text that fits a readable chat is delivered unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (words) => {
      fc.pre(textProblem(words) === null && words === words.trim() && !words.includes('\n\n\n'))
      expect(deliveredText(words)).toBe(words)
    }),
  )
})
