import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { sideBySide, printTable } from '../../src/cli/table.ts'

/** What a table prints, line by line. */
function printed(rows: string[][]): string[] {
  let text = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += String(part)
    return true
  })
  onTestFinished(() => spy.mockRestore())
  printTable(rows)
  return text.split('\n').slice(0, -1)
}

describe('a table', () => {
  test('has columns as wide as their widest text, and no blanks at the end of a line', () => {
    const rows = [['NAME', 'KIND'], ['a', 'group'], ['abcdef']]
    expect(printed(rows)).toEqual(['NAME    KIND', 'a       group', 'abcdef'])
  })

  test.each([
    ['a wide character', '日本', 4],
    ['half-width katakana', 'ｱｲ', 2],
    ['an emoji with a skin tone', '👍🏽', 2],
    ['a family of emojis', '👨‍👩‍👧', 2],
    ['a flag', '🇨🇭', 2],
    ['an accent that stands by itself', 'e\u0301', 1],
    ['an accented letter', 'é', 1],
    ['nothing', '', 0],
  ])('counts %s as it stands on the screen', (_name, text, width) => {
    expect(
      printed([
        [text, 'x'],
        ['12345', 'y'],
      ]),
    ).toEqual([`${text}${' '.repeat(7 - width)}x`, '12345  y'])
  })

  test('has one line a row, whatever a text holds', () => {
    expect(printed([['a\nb\tc', 'x']])).toEqual(['a b c  x'])
    expect(printed([['a\u001b[2J\u202eb', 'x']])).toEqual(['a[2Jb  x'])
  })
})

describe('side by side', () => {
  test('texts stand, each wrapped in its column', () => {
    expect(sideBySide(['one two three', 'x'], [8, 3])).toEqual(['one two  │ x', 'three    │'])
  })

  test('what has no blank is cut, and newlines are kept', () => {
    expect(sideBySide(['abcdefgh\ni'], [5])).toEqual(['abcde', 'fgh', 'i'])
  })

  test('wide characters take two places', () => {
    expect(sideBySide(['日本語', 'x'], [4, 1])).toEqual(['日本 │ x', '語   │'])
  })

  test('no line is longer than the widths and the gaps between them', () => {
    const cells = ['word '.repeat(40), 'x'.repeat(200), 'a b\nc']
    for (const line of sideBySide(cells, [32, 28, 34])) expect(line.length).toBeLessThanOrEqual(100)
  })

  test('nothing in a text can move the cursor', () => {
    expect(sideBySide(['a\u001b[2Jb'], [9])).toEqual(['a[2Jb'])
  })
})
