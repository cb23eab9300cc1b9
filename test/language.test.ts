import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Words in place of those of the field: report, log, read, check, accept, contain, receive. */
const DIALECT =
  /\b(?:says?|said|tells?|told|looks?|looked|takes?|took|taken|stands?|stood|bears?|comes?|came|saw|lets? in)\b/i

/** Clauses in place of nouns. */
const CLAUSE = /\b(?:whoever|whatever|what is|what was|who has|who had)\b/i

/** Names of files that said nothing to somebody who has not opened them. */
const GONE =
  /^(?:offer|attempts|claims|strangers|relief|patience|outlook|foresight|passing|presence|seen-mark|folder-hold|poll-sign|file-end|schema-end)\.ts$/

const files = globSync('src/**/*.ts')

/** Lines of comments, without what stands in backquotes. */
function commentsOf(text: string): string[] {
  let isInside = false
  return text.split('\n').flatMap((line) => {
    const begins = line.includes('/*')
    const isComment = isInside || begins || /(?:^|\s)\/\/ /.test(line)
    if (begins || isInside) isInside = !line.includes('*/')
    const at = line.search(/\/\*|\/\/ /)
    return isComment ? [line.slice(Math.max(at, 0)).replaceAll(/`[^`]*`/g, '')] : []
  })
}

/** How many lines of comments match. */
const count = (pattern: RegExp): number =>
  files
    .flatMap((file) => commentsOf(readFileSync(file, 'utf8')))
    .filter((line) => pattern.test(line)).length

/** Upper bounds, only ever lowered; see `test/size.test.ts`. */
const LIMITS: [what: string, pattern: RegExp, limit: number][] = [
  ['words that the field does not use', DIALECT, 5],
  ['clauses in place of nouns', CLAUSE, 1],
]

describe('the language of the source', () => {
  test.each(LIMITS)('has no more %s in comments than before', (what, pattern, limit) => {
    expect(
      count(pattern),
      `${what}, at most ${limit}: use the noun or verb of the field`,
    ).toBeLessThanOrEqual(limit)
  })

  test('has no file whose name says nothing', () => {
    expect(files.filter((file) => GONE.test(basename(file)))).toEqual([])
  })

  test('is counted in comments alone, without names in backquotes', () => {
    const text =
      "const told = 'told' // tells it\n/** Looks. */\n/**\n * `saw` and\n * came.\n */\n"
    expect(commentsOf(text).filter((line) => DIALECT.test(line))).toEqual([
      '// tells it',
      '/** Looks. */',
      ' * came.',
    ])
  })
})
