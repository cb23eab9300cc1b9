import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { counted, oneLine, printableJson, stripControls } from '../../src/printable.ts'

/** Every character that the Unicode names `Bidi_Control`, and the separators of lines. */
const TURNING = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'
const SEPARATORS = '\u2028\u2029'
const C1 = Array.from({ length: 33 }, (_, at) => String.fromCharCode(0x7f + at)).join('')
const HARMLESS = 'a~\u00a0é\u061b\u200d\u2027\u202f\u2065日😀'

test('`stripControls` keeps newlines and tabs and removes control and bidirectional characters', () => {
  expect(stripControls(`a\u0000\u001b\r${C1}${TURNING}${SEPARATORS}\n\tb`)).toBe('a\n\tb')
  expect(stripControls(HARMLESS)).toBe(HARMLESS)
})

test('`oneLine` replaces line breaks by spaces', () => {
  expect(oneLine(`a\nhint: b\t${SEPARATORS}c\r\n`)).toBe('a hint: b c ')
})

test('`printableJson` escapes control and bidirectional characters without a change of meaning', () => {
  for (const character of C1 + TURNING + SEPARATORS) {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    expect(printableJson({ [character]: character })).toBe(`{"\\u${code}":"\\u${code}"}`)
  }
  const value = [{ a: HARMLESS, b: C1 + TURNING, 'c\u202e': ['\n'] }]
  expect(JSON.parse(printableJson(value, 2))).toEqual(value)
  expect(printableJson([HARMLESS])).toBe(JSON.stringify([HARMLESS]))
  expect(printableJson([1], 2)).toBe('[\n  1\n]')
})

test('a count has its noun in the singular for one alone', () => {
  expect([0, 1, 2].map((count) => counted(count, 'chat'))).toEqual(['0 chats', '1 chat', '2 chats'])
  expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual([
    '1 entry',
    '2 entries',
  ])
})

/** Counts with a noun, and the lines in which none can be one. */
const COUNT =
  /\$\{[a-z][^}]*\} (?:bots|calls|chats|entries|failures|files|lines|messages|people|times)\b/
const NEVER_ONE = / of \$\{|most\.entries|sealed ones of|media\.length === 1|no more than/

test('a count that may be one is printed by `counted`', () => {
  const found = globSync('src/**/*.ts', { exclude: ['src/operators/doctor/**'] }).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => COUNT.test(line) && !NEVER_ONE.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(found).toEqual([])
  expect(COUNT.test('print(`${one.count} messages`)')).toBe(true)
})
