import stringWidth from 'fast-string-width'
import { expect, test, vi } from 'vitest'
import { formatActivity } from '../../src/cli/activity.ts'

const AT_MS = new Date(2031, 4, 6, 7, 8, 9).getTime()
const lines = (text: string, { who = 'alice', width = 80, mark = {} } = {}): string[] =>
  formatActivity({ atMs: AT_MS, who, text, ...mark }, width).split('\n')

test('a line of activity has the time of day, the person and the text', () => {
  expect(lines('dm: hi')).toEqual(['07:08:09 alice          dm: hi'])
})

test.each([
  ['plain text', 'word '.repeat(60)],
  ['one long word', 'x'.repeat(300)],
  ['wide characters', '日本語'.repeat(60)],
  ['emoji', '👩‍👩‍👧 '.repeat(60)],
  ['combining accents', 'e\u0301'.repeat(200)],
  ['tabs', 'a\tb'.repeat(60)],
  ['newlines', 'one\ntwo\n\nthree'],
])('an activity with %s is wrapped within 80 columns below its text', (_what, text) => {
  const shown = lines(text, { mark: { mark: { colour: 'green', text: '✓ verified' } } })
  expect(shown.length).toBeGreaterThan(1)
  for (const line of shown) expect(stringWidth(line)).toBeLessThanOrEqual(80)
  for (const line of shown.slice(1)) expect(line).toMatch(/^( {24}|$)/)
  expect(shown.join(' ')).toMatch(/✓\s+verified$/)
})

test('a wrapped activity contains the whole text', () => {
  const text = 'x'.repeat(300)
  expect(lines(text).join('').replaceAll(' ', '')).toBe(`07:08:09alice${text}`)
})

test('a username that is too long is cut to its column, with wide characters too', () => {
  expect(lines('hi', { who: 'a_handle_of_many_letters' })).toEqual(['07:08:09 a_handle_of_m… hi'])
  const [wide = ''] = lines('hi', { who: '日本語日本語日本語' })
  expect(stringWidth(wide.replace(' hi', ''))).toBe(23)
})

test('an activity contains no control characters and no bidirectional overrides', () => {
  const hostile = '\u001b[2J\u001b]0;title\u0007a\rb\u0008\u009b31m\u202ec\u2066d'
  const [line = ''] = lines(hostile, { who: 'al\u001b[31mice\nx' })
  // oxlint-disable-next-line no-control-regex -- escape sequences begin with one
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/)
  expect(line).toMatch(/^07:08:09 alice x +ab?.*c.?d$/)
})

test('a long activity shows forty lines and the number of the rest', () => {
  const shown = lines('x\n'.repeat(100).trim(), {
    mark: { mark: { colour: 'red', text: '✗ bad signature' } },
  })
  expect(shown).toHaveLength(41)
  expect(shown[40]).toBe(`${' '.repeat(24)}… and 60 lines more  ✗ bad signature`)
})

test('an activity has only its mark coloured at a terminal with colours', () => {
  vi.stubEnv('FORCE_COLOR', '1')
  const isTty = process.stdout.isTTY
  process.stdout.isTTY = true
  try {
    const [line = ''] = lines('hi', { mark: { mark: { colour: 'green', text: '✓ verified' } } })
    expect(line).toContain('hi  \u001b[32m✓ verified\u001b[39m')
  } finally {
    process.stdout.isTTY = isTty
    vi.unstubAllEnvs()
  }
})
