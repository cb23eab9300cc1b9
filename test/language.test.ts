import { execFileSync } from './support/programs.ts'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Words in place of those of the field: report, log, read, check, accept, contain, receive. */
const DIALECT =
  /\b(?:says?|said|tells?|told|looks?(?!-up)|looked|takes?|took|taken|stands?|stood|bears?|comes?|came|saw|lets? in)\b/i

/** Clauses in place of nouns. */
const CLAUSE = /\b(?:whoever|whatever|what is|what was|who has|who had)\b/i

/** Further words that a name of a test must not have: the field's verb is meant. */
const DIALECT_OF_NAMES = new RegExp(
  `${DIALECT.source}|\\b(?:saying|seen|gets?|got|goes|asks?|asked|hears?|heard|lets?)\\b`,
  'i',
)

/** A clause in place of a noun, in names and in pages. */
const NOUN_CLAUSE =
  /\b(?:whoever|whatever|whichever)\b|(?:^|\b(?:of|to|for|by|with|from|in|on|as|that|and|or|but|than|is|are|was|nor)\s|[:;|]\s)(?:what|who|whom|whose)\b|,\swhat\b/i

/** Words of pages. */
const DIALECT_OF_PAGES =
  /\b(?:tells|told|looks?(?![- ]?up)|looked|stands?|stood|bears?|saw|lets? in)\b/i

/** Beginnings of names without a subject: pronouns, prepositions, conjunctions, auxiliaries. */
const NO_SUBJECT =
  /^(?:is|are|was|has|have|had|does|do|it|they|them|this|that|these|those|ones?|by|of|to|for|with|from|in|on|at|as|and|or|but|nor|not|no longer|only|never|also|again|then|so|where|when|if|without|between|after|before|until|once|because|since|while|unless|under|over|beside|across)\b/i

/** The same: verbs. */
const VERBS = new Set(
  (
    'accepts adds allows answers applies begins belongs brings builds calls carries changes checks chooses clears ' +
    'closes compares computes contains continues copies costs counts covers creates cuts deletes delivers describes ' +
    'drops ends erases escapes expires explains fails falls finds follows forgets gives grows happens hides holds ' +
    'ignores keeps kills knows lasts leaves lists listens loads locks loses makes marks matches means measures merges ' +
    'moves names needs notes offers opens outlives parses passes pays prefers prints promises proves publishes puts ' +
    'raises reaches reads rebuilds records refuses rejects releases removes renews repeats replaces reports requires ' +
    'resolves rests returns rotates runs saves seals searches sends serves sets shares shows signs skips sleeps splits ' +
    'starts stays stops stores strips survives treats tries trusts turns unlocks uses verifies waits works wraps writes'
  ).split(' '),
)

/** Names of files that said nothing to somebody who has not opened them. */
const GONE =
  /^(?:offer|attempts|claims|strangers|relief|patience|outlook|foresight|passing|presence|seen-mark|folder-hold|poll-sign|file-end|schema-end)\.ts$/

/** Lines of comments that may match, as they are written. */
const ALLOWED_LINES: ReadonlySet<string> = new Set([])

/** Commits whose subjects may match, by the first ten digits. */
const ALLOWED_COMMITS: ReadonlySet<string> = new Set([])

/** Subjects are checked after this commit and time, which leaves out branches that began before. */
const CHECKED_AFTER = { commit: 'e1c87c09e3', time: '2026-11-29T03:30:15+00:00' }
const LONGEST_SUBJECT = 72

const files = globSync('src/**/*.ts')

/** Rooms of before, in subjects of commits. */
const FORMER = ['bots', 'media', 'replicas', 'rpc', 'upstream']

/** Areas of subjects: folders of `src` and `test`, by path or name, and what has no folder there. */
const AREAS = new Set(
  globSync(['src/**/', 'test/**/'])
    .flatMap((folder) => [basename(folder), folder.replace(/^(?:src|test)\//, '')])
    .concat(FORMER, 'src', 'test', 'config', 'docs', 'bin', 'ci', 'errors', 'findings', 'lint'),
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
  if (subject.length > LONGEST_SUBJECT) return `has more than ${LONGEST_SUBJECT} characters`
  const [word] = DIALECT.exec(withoutNames(change)) ?? CLAUSE.exec(withoutNames(change)) ?? []
  return word === undefined ? null : `says "${word}": use the noun or verb of the field`
}

/** Titles of tests in a file: what \`test\` or \`it\` has as its first argument, tables included. */
const TITLE =
  /(?:\b(?:test|it)(?:\.(?:skipIf|runIf|for|each)\((?:[^()]|\([^()]*\))*\)|\.\w+)*|\))\(\s*(?:'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`([^`]+)`)\s*,\s*(?:async\b|\(|\{|function|\w+(?:,|\)))/g

const titlesOf = (text: string): string[] =>
  [...text.matchAll(TITLE)].flatMap(([, one, two, three]) => {
    const title = one ?? two ?? three ?? ''
    return title.includes(' ') ? [title] : []
  })

/** What is wrong with the name of a test; null for none. */
function nameProblem(title: string): string | null {
  const bare = title.replaceAll(/`[^`]*`|"[^"]*"/g, 'NAME')
  const [first = ''] = bare.split(' ')
  if (NO_SUBJECT.test(bare) || VERBS.has(first)) return 'has no subject'
  const [word] = DIALECT_OF_NAMES.exec(bare) ?? NOUN_CLAUSE.exec(bare) ?? []
  return word === undefined ? null : `has "${word.trim()}"`
}

/** Sentences of a page that match, without its code, links, tags, and tables made from the source. */
function sentencesLike(page: string, pattern: RegExp): string[] {
  const own = readFileSync(page, 'utf8').replaceAll(/<!-- table [^]*?<!-- end -->/g, '')
  const text = own.replaceAll(/^```[^]*?^```/gm, '')
  const bare = text.replaceAll(/`[^`]*`/g, 'CODE').replaceAll(/\]\([^)]*\)|<[^>]*>/g, '')
  return bare.split(/(?<=[.?!:|])\s+|\n/).filter((sentence) => pattern.test(sentence))
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
  ])('comments of the source have no %s', (what, pattern) => {
    expect(matching(pattern), `${what}: use the noun or verb of the field`).toEqual([])
  })

  test('the source has no file with a name that means nothing to a reader', () => {
    expect(files.filter((file) => GONE.test(basename(file)))).toEqual([])
  })

  test('the search for words reads comments alone, without names in backquotes', () => {
    const text =
      "const told = 'told' // tells it\n/** Looks. */\n/**\n * `saw` and\n * came.\n * @param take a look-up\n */\n"
    expect(commentsOf(text).filter((line) => DIALECT.test(line))).toEqual([
      '// tells it',
      '/** Looks. */',
      ' * came.',
    ])
  })
})

describe('the names of tests', () => {
  test('each name of a test has a subject, and words of the field', () => {
    const problems = globSync('test/**/*.test.ts').flatMap((file) =>
      titlesOf(readFileSync(file, 'utf8')).flatMap((title) => {
        const problem = nameProblem(title)
        return problem === null ? [] : [`${file}: "${title}" ${problem}`]
      }),
    )
    expect(problems).toEqual([])
  })

  test.each([
    ['a poll that fails with 502 leaves the offset unchanged', null],
    ['`trust import` without --yes changes nothing', null],
    ['is nothing where it hung up', 'has no subject'],
    ['by two at once is learned once', 'has no subject'],
    ['keeps the order', 'has no subject'],
    ['the sidecar keeps what was sealed', null],
    ['the sidecar refuses, whoever calls', 'has "whoever"'],
    ['the journal says so', 'has "says"'],
  ])('the name "%s" has the problem %s', (title, problem) => {
    expect(nameProblem(title)).toBe(problem)
  })

  test('the search for names finds those of tables and conditions', () => {
    const text =
      "test('a b', () => {})\nit.skipIf(!has('x'))('c d', async () => {})\n])('e %s', (x) => {"
    expect(titlesOf(text)).toEqual(['a b', 'c d', 'e %s'])
  })
})

test.each(globSync('{,src/**/,test/**/,config/**/}README.md').toSorted())(
  'the page %s has no dialect, and no clause in place of a noun',
  (page) => {
    expect([...sentencesLike(page, DIALECT_OF_PAGES), ...sentencesLike(page, NOUN_CLAUSE)]).toEqual(
      [],
    )
  },
)

describe('the subjects of commits', () => {
  test.each([
    ['openpgp: document packets in terms of RFC 9580', null],
    ['kernel/people, test: read `lets in` from the table', null],
    ['store: say it within a sitting', 'says "say": use the noun or verb of the field'],
    ['http: name what is answered', 'says "what is": use the noun or verb of the field'],
    ['shop: rename prices', 'begins with shop, no folder of src or test'],
    ['rename prices', 'is not `area: what changed`'],
    ['http:', 'is not `area: what changed`'],
    [`http: rename ${'x'.repeat(60)}`, 'has more than 72 characters'],
  ])('the subject "%s" has the problem %s', (subject, problem) => {
    expect(subjectProblem(subject)).toBe(problem)
  })

  test('each subject of a commit names an area and its change, in words of the field', ({
    skip,
  }) => {
    skip(!hasHistory(), `commit ${FIRST} is not in the history: a shallow clone, or no clone`)
    expect(subjectProblems()).toEqual([])
  })
})
