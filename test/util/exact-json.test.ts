import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { parseAnswer, parseBody, parseExact, stringify } from '../../src/util/exact-json.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt().map(String),
  fc.constantFrom('-0', '1.0', '1.50', '1e400', '1E+2', '9007199254740993', '0.1e-7'),
)
const string = fc.string({ unit: 'grapheme', maxLength: 10 }).map((text) => JSON.stringify(text))
const scalar = fc.oneof(number, string, fc.constantFrom('true', 'false', 'null'))
/** JSON as text without blanks, its numbers in every spelling, no name twice in one object. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(string, tie('json')), { maxLength: 4, selector: ([name]) => name })
      .filter((entries) => !entries.some(([name]) => name === '"__proto__"'))
      // Names that are numbers change their places.
      .filter((entries) => !entries.some(([name]) => /^"\d+"$/.test(name)))
      .map((entries) => `{${entries.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  ),
}))

/** A string, which stays, or a number. */
const NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
/** In a body every spelling of an integer is that integer. */
const ofBody = (token: string): string =>
  Number.isSafeInteger(Number(token)) && !token.startsWith('"') ? String(Number(token)) : token

test('any JSON is parsed and serialized to the same bytes, but for integers of a body', () => {
  fc.assert(
    fc.property(json, (text) => {
      expect(stringify(parseExact(text))).toBe(text)
      expect(stringify(parseBody(Buffer.from(text)))).toBe(text.replaceAll(NUMBER, ofBody))
    }),
    { numRuns: runs(1000) },
  )
})

const blanks = fc.constantFrom('', ' ', '\n', '\t', '\r\n', '\u00a0', '\ufeff')
const piece = fc.oneof(
  scalar,
  blanks,
  fc.constantFrom(...'{}[],:"\\', '"a":', '"a"', '"\\u0061":', '\\ud800', '"__proto__":', '"\0"'),
  fc.constantFrom('01', '+1', '.5', '1.', 'NaN', 'Infinity', 'undefined', "'a'", '//', '-', '1e'),
)
/** What JSON is made of, within a list or alone. */
const PIECES = ['{', '}', '[', ']', ':', ',', '"', '\\', '\\"', '\\\\', '"a"', '"\\\\"', '\\u0041']
const MORE = ['1', '-1.0', '1e4', '9007199254740993', 'true', 'null', 'tru', ' ', '\n', '\r', 'é']
const soup = fc
  .array(fc.constantFrom(...PIECES, ...MORE), { maxLength: 12 })
  .map((pieces) => pieces.join(''))
/** What looks like JSON, and now and then is. */
const almost = fc.oneof(
  soup,
  soup.map((inner) => `{"k":[${inner}]}`),
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
  fc
    .tuple(json, fc.nat(), fc.nat({ max: 3 }), piece)
    .map(([text, at, gone, put]) => splice(text, at % (text.length + 1), gone, put)),
)

function splice(text: string, at: number, gone: number, put: string): string {
  // Half a character is none in UTF-8.
  return (text.slice(0, at) + put + text.slice(at + gone)).toWellFormed()
}

/** What the platform's own parser makes of a text. */
function platform(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

test('a body that JSON.parse rejects is refused as `bad_request`', () => {
  fc.assert(
    fc.property(almost, (text) => {
      const known = platform(text)
      let body: { value: unknown } | null = null
      try {
        body = { value: parseBody(Buffer.from(text)) }
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
        expect(error).toMatchObject({ code: 'bad_request' })
      }
      if (known === null) expect(body).toBeNull()
      if (body === null) return
      // JSON.stringify writes -0 as 0
      const value: unknown = JSON.parse(text, (_name, one: unknown) => (one === 0 ? 0 : one))
      expect(JSON.parse(stringify(body.value))).toEqual(value)
    }),
    { numRuns: runs(5000) },
  )
})

test('`parseExact` accepts and reads the same texts as JSON.parse', () => {
  fc.assert(
    fc.property(almost, (text) => {
      const known = platform(text)
      let read: { value: unknown } | null = null
      try {
        read = { value: parseExact(text) }
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
      expect(read === null).toBe(known === null)
      if (read !== null) expect(JSON.parse(stringify(read.value))).toEqual(known?.value)
    }),
    { numRuns: runs(5000) },
  )
})

test('any bytes are parsed as a body or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        parseBody(Buffer.from(bytes))
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    }),
    { numRuns: runs(2000) },
  )
})

test('`parseAnswer` reads a long list in slices to the same result as `parseExact`', async () => {
  const list = fc.array(fc.oneof({ arbitrary: json, weight: 4 }, almost), { maxLength: 4 })
  const end = fc.constantFrom(']}', ']}', ']}', ',]}', '] }', ']', '],"x":[1]}', '],"x":{"a":[1]}}')
  await fc.assert(
    fc.asyncProperty(list, end, async (items, close) => {
      const long = JSON.stringify('x'.repeat(100_000))
      const text = `{"ok":true,"result":[${[long, ...items].join(',')}${close}`
      const whole = await Promise.resolve(text).then(parseExact).catch(nameOf)
      expect(await Promise.try(() => parseAnswer(text)).catch(nameOf)).toEqual(whole)
    }),
    { numRuns: runs(500) },
  )
})

const nameOf = (error: Error): string => error.name

test('a string of quotes and backslashes is parsed in linear time', () => {
  for (const inside of ['\\\\', '\\"', '\\\\\\"']) {
    const text = JSON.stringify({ a: 1 }).replace('1', `"${inside.repeat(1_000_000)}"`)
    expect(typeof (parseExact(text) as { a: unknown }).a).toBe('string')
  }
})

test('`parseExact` refuses more values than its limit', () => {
  expect(() => parseExact(`[${'1,'.repeat(130_000)}1]`)).toThrow(SyntaxError)
  expect(() => parseExact(`[${'1.0,'.repeat(60_000)}1]`)).toThrow(SyntaxError)
  expect(parseExact(`[${'1,'.repeat(120_000)}1]`)).toHaveLength(120_001)
})
