import { execFileSync } from './support/programs.ts'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Words in place of those of the field: report, log, read, check, accept, contain, receive. */
const DIALECT =
  /\b(?:says?|said|tells?|told|looks?(?!-up)|looked|takes?|took|taken|stands?|stood|bears?|comes?|came|saw|lets? in)\b/i

/** Clauses in place of nouns. */
const CLAUSE = /\b(?:whoever|whatever|what is|what was|who has|who had)\b/i

/** Names of files that said nothing to somebody who has not opened them. */
const GONE =
  /^(?:offer|attempts|claims|strangers|relief|patience|outlook|foresight|passing|presence|seen-mark|folder-hold|poll-sign|file-end|schema-end)\.ts$/

/** Lines of comments that may match, as they are written. */
const ALLOWED_LINES: ReadonlySet<string> = new Set([])

/** Commits whose subjects may match, by the first ten digits. */
const ALLOWED_COMMITS: ReadonlySet<string> = new Set([])

/** Subjects are checked after this commit and time, which leaves out branches that began before. */
const CHECKED_AFTER = {
  commit: '73784bf8f1',
  time: '2026-11-26T05:00:00Z',
}

const files = globSync('src/**/*.ts')

/** Areas of subjects: folders of `src` and `test`, by path or name, and what has no folder there. */
const AREAS = new Set(
  globSync(['src/**/', 'test/**/'])
    .flatMap((folder) => [basename(folder), folder.replace(/^(?:src|test)\//, '')])
    .concat('src', 'test', 'config', 'docs', 'bin', 'ci', 'errors', 'lint'),
)

/** Without names in backquotes and names of parameters. */
const withoutNames = (text: string): string =>
  text.replaceAll(/`[^`]*`/g, '').replaceAll(/@param \w+/g, '@param')

/** Lines of comments, without names. */
function commentsOf(text: string): string[] {
  let isInside = false
  return text.split('\n').flatMap((line) => {
    const begins = line.includes('/*')
    const isComment = isInside || begins || /(?:^|\s)\/\/ /.test(line)
    if (begins || isInside) isInside = !line.includes('*/')
    const at = line.search(/\/\*|\/\/ /)
    return isComment ? [withoutNames(line.slice(Math.max(at, 0)))] : []
  })
}

/** The comments that match, with their files. */
const matching = (pattern: RegExp): string[] =>
  files.flatMap((file) =>
    commentsOf(readFileSync(file, 'utf8'))
      .filter((line) => pattern.test(line) && !ALLOWED_LINES.has(line.trim()))
      .map((line) => `${file}: ${line.trim()}`),
  )

/** Why a subject is not `area: what changed about which thing` in words of the field; or null. */
function subjectProblem(subject: string): string | null {
  const { areas = '', change = '' } =
    /^(?<areas>[^:]+): (?<change>\S.*)$/.exec(subject)?.groups ?? {}
  if (change === '') return 'is not `area: what changed`'
  const unknown = areas.split(', ').find((area) => !AREAS.has(area))
  if (unknown !== undefined) return `begins with ${unknown}, no folder of src or test`
  const [word] = DIALECT.exec(withoutNames(change)) ?? CLAUSE.exec(withoutNames(change)) ?? []
  return word === undefined ? null : `says "${word}": use the noun or verb of the field`
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

const { commit: FIRST, time: SINCE } = CHECKED_AFTER

/** False in a shallow clone, and outside of one. */
function hasHistory(): boolean {
  try {
    git('cat-file', '-e', `${FIRST}^{commit}`)
    return true
  } catch {
    return false
  }
}

/** The problems of the subjects to check, with their commits. */
function subjectProblems(): string[] {
  const log = git('log', '--no-merges', `--since=${SINCE}`, '--format=%H %s', `${FIRST}..HEAD`)
  return log.split('\n').flatMap((line) => {
    const [commit, subject] = [line.slice(0, 10), line.slice(41)]
    const problem = line === '' || ALLOWED_COMMITS.has(commit) ? null : subjectProblem(subject)
    return problem === null ? [] : [`${commit} "${subject}" ${problem}`]
  })
}

describe('the language of the source', () => {
  test.each([
    ['words that the field does not use', DIALECT],
    ['clauses in place of nouns', CLAUSE],
  ])('has no %s in comments', (what, pattern) => {
    expect(matching(pattern), `${what}: use the noun or verb of the field`).toEqual([])
  })

  test('has no file whose name says nothing', () => {
    expect(files.filter((file) => GONE.test(basename(file)))).toEqual([])
  })

  test('is read in comments alone, without names in backquotes and of parameters', () => {
    const text =
      "const told = 'told' // tells it\n/** Looks. */\n/**\n * `saw` and\n * came.\n * @param take a look-up\n */\n"
    expect(commentsOf(text).filter((line) => DIALECT.test(line))).toEqual([
      '// tells it',
      '/** Looks. */',
      ' * came.',
    ])
  })
})

describe('the subjects of commits', () => {
  test.each([
    ['openpgp: document packets in terms of RFC 9580', null],
    ['kernel/people, test: read `lets in` from the table', null],
    ['store: say it within a sitting', 'says "say": use the noun or verb of the field'],
    ['http: name what is answered', 'says "what is": use the noun or verb of the field'],
    ['shop: rename prices', 'begins with shop, no folder of src or test'],
    ['rename prices', 'is not `area: what changed`'],
    ['http:', 'is not `area: what changed`'],
  ])('%s', (subject, problem) => {
    expect(subjectProblem(subject)).toBe(problem)
  })

  test('name an area and what changed, in words of the field', ({ skip }) => {
    skip(!hasHistory(), `commit ${FIRST} is not in the history: a shallow clone, or no clone`)
    expect(subjectProblems()).toEqual([])
  })
})
