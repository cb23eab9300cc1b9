import { expect, test } from 'vitest'
import { sideBySide } from '../../src/cli/columns.ts'

test('texts stand side by side, each wrapped in its column', () => {
  expect(sideBySide(['one two three', 'x'], [8, 3])).toEqual(['one two  │ x', 'three    │'])
})

test('what has no blank is cut, and newlines are kept', () => {
  expect(sideBySide(['abcdefgh\ni'], [5])).toEqual(['abcde', 'fgh', 'i'])
})

test('no line is longer than the widths and the gaps between them', () => {
  const cells = ['word '.repeat(40), 'x'.repeat(200), 'a b\nc']
  for (const line of sideBySide(cells, [32, 28, 34])) expect(line.length).toBeLessThanOrEqual(100)
})

test('nothing in a text can move the cursor', () => {
  expect(sideBySide(['a\u001b[2Jb'], [9])).toEqual(['a[2Jb'])
})
