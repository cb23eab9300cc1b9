import { expect, test } from 'vitest'
import {
  ENVELOPE_NAMES,
  ERROR_NAMES,
  JudgedNames,
  OWN_NAME,
  RESULT_NAMES,
  UPDATE_NAMES,
  isOurCode,
} from '../../src/api/judged-names.ts'
import { countNames } from '../../src/util/exact-json.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

const ALL = [ENVELOPE_NAMES, ERROR_NAMES, UPDATE_NAMES, RESULT_NAMES, OWN_NAME]

test.each([
  ['Text', 'text'],
  ['TEXT', 'text'],
  ['kınd', 'kind'],
  ['kİnd', 'kind'],
  ['\u212aind', 'kind'],
  ['U\u017fername', 'username'],
  ['updateid', 'updateId'],
  ['reply_to', 'replyTo'],
  ['reply-to', 'replyTo'],
  ['_text', 'text'],
  ['text\0', 'text'],
  ['text\0more', 'text'],
  [`te${'_'.repeat(100)}xt`, 'text'],
])('the name %j is an impostor of %s', (name, real) => {
  expect(UPDATE_NAMES.isImpostor(name)).toBe(true)
  expect(UPDATE_NAMES.isImpostor(real)).toBe(false)
  expect(OWN_NAME.isImpostor(name)).toBe(false)
})

test.each(['texts', 'tex', 'te xt', 'text ', 'тext', '_id', '', 'x', 'proto', 'toString'])(
  'the name %j is no impostor of any name',
  (name) => {
    for (const names of ALL) expect(names.isImpostor(name)).toBe(false)
  },
)

test.each(['postern', 'Postern', 'POSTERN', 'po\u017ftern', 'post_ern', 'postern\0', '__proto__'])(
  'the name %j is reserved for Postern at any depth',
  (name) => {
    for (const names of ALL) expect(names.isImpostor(name)).toBe(true)
  },
)

test('a name of megabytes is compared like a short name', () => {
  for (const filler of ['x', '_', '\u017f', '\0', '🏯']) {
    expect(UPDATE_NAMES.isImpostor(`tex${filler.repeat(2_000_000)}s`)).toBe(false)
  }
  expect(UPDATE_NAMES.isImpostor(`tex${'_'.repeat(2_000_000)}T`)).toBe(true)
})

test('the cache of compared names never changes a result', () => {
  const names = new JudgedNames(['text'])
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 5000; n++) {
      expect(names.isImpostor(`x${n}`)).toBe(false)
      if (n % 500 === 0) expect(names.isImpostor('Text')).toBe(true)
    }
  }
})

test('every name that a case-insensitive parser equates with `text` is an impostor', () => {
  const letter = fc.constantFrom(...'teTE\u017f\u212aıİxX\u0130_-\0')
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 6 }), (letters) => {
      const name = letters.join('')
      const folds = [name.toLowerCase(), name.toUpperCase().toLowerCase(), name.normalize('NFC')]
      const isRead = /^text$/iu.test(name) || folds.includes('text')
      if (isRead && name !== 'text') expect(UPDATE_NAMES.isImpostor(name)).toBe(true)
    }),
    { numRuns: runs(5000) },
  )
})

test.each(['rate_limited', 'poster', 'rate_limited_by_postern_or_so', 'no_postern', ''])(
  'the error code %j belongs to the service',
  (code) => {
    expect(isOurCode(code)).toBe(false)
  },
)

/** Names of all objects in a value. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, inner) => sum + namesIn(inner), 0)
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

test('`countNames` counts every name of a JSON text, repeated names too', () => {
  const value = fc.jsonValue({ stringUnit: 'grapheme' })
  fc.assert(
    fc.property(value, fc.string(), fc.constantFrom(undefined, 1, '\t'), (json, name, indent) => {
      const text = JSON.stringify(json, null, indent)
      const names = namesIn(JSON.parse(text))
      expect(countNames(text)).toBe(names)
      const twice = `{${JSON.stringify(name)}:1 , ${JSON.stringify(name)} : ${text}}`
      expect(namesIn(JSON.parse(twice))).toBe(names + 1)
      expect(countNames(twice)).toBe(names + 2)
    }),
    { numRuns: runs(1000) },
  )
})
