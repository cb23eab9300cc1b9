import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'

test('the README of the commands has every code that a command ends with', () => {
  const text = readFileSync(new URL('../../src/cli/README.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| (`[a-z-]+`) .*\|$/gm)].map(([row]) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  expect(rows).toEqual(
    Object.entries(OPERATOR_REFUSALS).map(([code, { exitCode, what, hint }]) => [
      `\`${code}\``,
      String(exitCode),
      what,
      hint,
    ]),
  )
})
