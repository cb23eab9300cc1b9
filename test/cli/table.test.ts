import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { printList, printTable, printWrapped, sideBySide } from '../../src/cli/table.ts'

/** What is printed, line by line. */
function lines(print: () => void): string[] {
  let text = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += String(part)
    return true
  })
  onTestFinished(() => spy.mockRestore())
  print()
  spy.mockRestore()
  return text.split('\n').slice(0, -1)
}

const printed = (rows: string[][]): string[] => lines(() => printTable(rows))

/** From now on stdout is a terminal so wide. */
function terminal(columns: number): void {
  const { isTTY, columns: before } = process.stdout
  Object.assign(process.stdout, { isTTY: true, columns })
  onTestFinished(() => void Object.assign(process.stdout, { isTTY, columns: before }))
}

describe('tables', () => {
  test('a table has columns as wide as their widest cell and no trailing blanks', () => {
    const rows = [['NAME', 'KIND'], ['a', 'group'], ['abcdef']]
    expect(printed(rows)).toEqual(['NAME    KIND', 'a       group', 'abcdef'])
  })

  test.each([
    ['a wide character', '日本', 4],
    ['an emoji with a skin tone', '👍🏽', 2],
    ['a family of emoji', '👨‍👩‍👧', 2],
    ['a combining accent', 'e\u0301', 1],
  ])('a table measures %s by its width on the screen', (_name, text, width) => {
    expect(
      printed([
        [text, 'x'],
        ['12345', 'y'],
      ]),
    ).toEqual([`${text}${' '.repeat(7 - width)}x`, '12345  y'])
  })

  test('a row of a table is one line without control characters', () => {
    expect(printed([['a\nb\tc', 'x']])).toEqual(['a b c  x'])
    expect(printed([['a\u001b[2J\u202eb', 'x']])).toEqual(['a[2Jb  x'])
  })
})

describe('a narrow terminal', () => {
  const FINGERPRINT = 'a1'.repeat(20)

  test('the last column of a table is wrapped between words below itself', () => {
    terminal(40)
    const rows = [
      ['what to do', 'ask the person, who must publish a key'],
      ['at', 'now'],
    ]
    expect(printed(rows)).toEqual([
      'what to do  ask the person, who must',
      '            publish a key',
      'at          now',
    ])
  })

  test('a last column without room starts on a line of its own', () => {
    terminal(40)
    expect(printed([['2026-01-01', 'key-changed', 'from one to another fingerprint']])).toEqual([
      '2026-01-01  key-changed',
      '  from one to another fingerprint',
    ])
  })

  test('a list becomes one block a row, and nothing in it is cut', () => {
    const people = [
      { id: '1', fingerprint: FINGERPRINT },
      { id: '2', fingerprint: '-' },
    ]
    const columns = {
      PERSON: ({ id }: { id: string }) => id,
      FINGERPRINT: ({ fingerprint }: { fingerprint: string }) => fingerprint,
    }
    const list = (): string[] => lines(() => printList(people, null, columns))
    terminal(50)
    expect(list()).toEqual(['PERSON  FINGERPRINT', `1       ${FINGERPRINT}`, '2       -'])
    terminal(40)
    expect(list()).toEqual([
      'PERSON       1',
      `FINGERPRINT  ${FINGERPRINT}`,
      '',
      'PERSON       2',
      'FINGERPRINT  -',
    ])
  })

  test('a command in backticks is not wrapped', () => {
    terminal(40)
    const text = 'see what it is and run `postern key publish --replace` then'
    expect(lines(() => printWrapped(text, { first: 'fail  ', indent: 6 }))).toEqual([
      'fail  see what it is and run',
      '      `postern key publish --replace`',
      '      then',
    ])
  })
})

test('a row in a pipe is one line of any length', () => {
  expect(printed([['a', 'word '.repeat(100).trim()]])).toHaveLength(1)
  expect(lines(() => printList(['x'.repeat(500)], null, { A: (text) => text }))).toHaveLength(2)
})

describe('`sideBySide`', () => {
  test('texts side by side are wrapped in their columns', () => {
    expect(sideBySide(['one two three', 'x'], [8, 3])).toEqual(['one two  │ x', 'three    │'])
  })

  test('a word longer than its column is cut, and newlines are kept', () => {
    expect(sideBySide(['abcdefgh\ni'], [5])).toEqual(['abcde', 'fgh', 'i'])
  })

  test('a wide character occupies two places of a column', () => {
    expect(sideBySide(['日本語', 'x'], [4, 1])).toEqual(['日本 │ x', '語   │'])
  })

  test('texts side by side contain no control characters', () => {
    expect(sideBySide(['a\u001b[2Jb'], [9])).toEqual(['a[2Jb'])
  })
})
