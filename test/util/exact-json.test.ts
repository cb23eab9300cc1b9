import { expect, test } from 'vitest'
import { parseExact, stringify } from '../../src/util/exact-json.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

/** What JSON is made of, and what only looks so. */
const PIECES = ['{', '}', '[', ']', ':', ',', '"', '\\', '\\"', '\\\\', '"a"', '"\\\\"', '\\u0041']
const MORE = ['1', '-1.0', '1e4', '9007199254740993', 'true', 'null', 'tru', ' ', '\n', '\r', 'é']
const soup = fc
  .array(fc.constantFrom(...PIECES, ...MORE), { maxLength: 12 })
  .map((pieces) => pieces.join(''))

/** What a parser makes of a text, numbers as JavaScript counts them; undefined when it throws. */
function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

test('what is JSON, and only that, is read, and as what it is', () => {
  const wrapped = fc.oneof(
    soup,
    soup.map((inner) => `{"k":[${inner}]}`),
  )
  fc.assert(
    fc.property(wrapped, (text) => {
      const exact = outcome((given) => JSON.parse(stringify(parseExact(given))), text)
      expect(exact).toEqual(outcome(JSON.parse, text))
    }),
    { numRuns: runs(5000) },
  )
})

test('any value comes out as it went in, however its strings are spelt', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(stringify(parseExact(text))).toBe(JSON.stringify(JSON.parse(text)))
    }),
    { numRuns: runs(2000) },
  )
})

test.each(['9007199254740993', '1.0', '1e400', '-0', '1E5'])('%s keeps its spelling', (number) => {
  expect(stringify(parseExact(`{"n":[${number}]}`))).toBe(`{"n":[${number}]}`)
})

test('a string of quotes and backslashes takes no more time than its length', () => {
  for (const inside of ['\\\\', '\\"', '\\\\\\"']) {
    const text = JSON.stringify({ a: 1 }).replace('1', `"${inside.repeat(1_000_000)}"`)
    expect(typeof (parseExact(text) as { a: unknown }).a).toBe('string')
  }
})

test('more values than are walked at once are refused, in answers and where they are kept exactly', () => {
  expect(() => parseExact(`[${'1,'.repeat(80_000)}1]`)).toThrow(SyntaxError)
  expect(() => parseExact(`[${'1.0,'.repeat(30_000)}1]`)).toThrow(SyntaxError)
  expect(parseExact(`[${'1,'.repeat(70_000)}1]`)).toHaveLength(70_001)
})
