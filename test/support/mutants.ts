/**
 * `npm run mutants -- FILES`: changes files of `src` in one place after the other, and lists the
 * changes that no test near them notices, without those of `test/mutants-equivalent.txt`. FILES are
 * files, folders, or lines as `file.ts:10-20`; tests among them are the only ones that run. All of
 * them stay in one process; with `--alone` Stryker then tries each change that is left in one of its
 * own, and those of modules' constants. With `--quick` only quick tests run, with `--stages` also
 * those that start a sidecar. Outside the folder that is like its own, a change is tried by the
 * nearest tests, and by 20 of these at most (5 slow ones); with `--thorough` by all.
 *
 * `--since COMMIT` takes the lines that differ from a commit, with stages, and ends with an error
 * where too few of them are noticed. `--submission` does so for the commit that a branch or a merge
 * begins from, for so many lines and minutes as a run of CI has. `--minutes N` bounds any run, and `--lines N` one
 * by a commit; what was not tried is counted. `--sample N` tries so many changes of FILES, which are
 * chosen by their digests.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import type { Mutant } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { addMutators } from './mutants-mutators.ts'
import { tryQuickly, type Source } from './mutants-quickly.ts'
import { describe, foldersBelow, hasBound, score, withoutEquivalents } from './mutants-report.ts'
import { changedSince, chosenLines, countLines, submissionBase } from './mutants-since.ts'
import { Imports, reached } from './imports.ts'
import { rankedTests } from './near.ts'
import { hasPostgres, sharedCluster, stopSharedCluster } from './postgres.ts'
import { makeRunFolder, removeRunFolder } from './run-folder.ts'

/** A process of its own has no mutants. */
const STARTS_PROCESSES = /\b(runPostern|spawnPostern)\b/
/** A whole sidecar runs inside then (`sidecar-inside.ts`), and takes seconds for each change. */
const STARTS_SIDECARS = /\b(useStage|startSidecar)\b/
/** Files with tests, outside the folders that are like those of the sources. */
const MOST_ELSEWHERE = 30
/** Of a run of CI. */
const SUBMISSION = { lines: 100, minutes: 2 }

const starts = (what: RegExp, test: string): boolean => what.test(readFileSync(test, 'utf8'))

/** Those that reach it from outside or import it, and those of its folder of `src`; nearest first. */
function testsNear(path: string): string[] {
  const [, name = ''] = path.split('/')
  const own = globSync(`test/${name.replace('.ts', '')}{/**/,}*.test.ts`).toSorted()
  const near = [...new Set([...rankedTests(path), ...own])]
  return near.filter((test) => !starts(STARTS_PROCESSES, test))
}

/** The first ones of all lists, then the second ones. */
function interleaved(lists: string[][]): string[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  const places = Array.from({ length: longest }, (_, place) => place)
  return [
    ...new Set(places.flatMap((place) => lists.flatMap((list) => list.slice(place)[0] ?? []))),
  ]
}

const filesIn = (path: string, ending: string): string[] =>
  statSync(path).isDirectory() ? globSync(`${path}/**/*${ending}`).toSorted() : [path]

function sourcesIn(path: string): Source[] {
  const [, file, from, to = from] = /^(.+\.ts):(\d+)(?:-(\d+))?$/.exec(path) ?? []
  if (file !== undefined) return [{ path: file, lines: [{ from: Number(from), to: Number(to) }] }]
  return filesIn(path, '.ts').map((one) => ({ path: one, lines: null }))
}

/** What differs from a commit, or as much of it as is tried. */
function sourcesSince(commit: string, atMost: number): Source[] {
  const changed = changedSince(commit).filter(({ path }) => !values.submission || hasBound(path))
  const chosen = chosenLines(changed, atMost, commit)
  const [all, some] = [changed, chosen].map(countLines)
  print(`since ${commit.slice(0, 12)}: ${some} of ${all} changed lines of src are tried`)
  return chosen
}

/**
 * Tests of the folders that the sources lie in come first: they notice most. Stages come last. Of
 * those elsewhere only the nearest are run, unless all are asked for.
 */
function inGroups(all: Source[], tests: string[], withStages: boolean): string[][] {
  const folders = new Set(all.map(({ path }) => dirname(path).replace('src', 'test')))
  const isStage = (test: string): boolean => starts(STARTS_SIDECARS, test)
  const isNear = (test: string): boolean => folders.has(dirname(test)) && !isStage(test)
  const most = values.thorough || given.length > 0 ? Infinity : MOST_ELSEWHERE
  const groups = [
    tests.filter(isNear),
    tests.filter((test) => !isNear(test) && !isStage(test)).slice(0, most),
    withStages ? tests.filter(isStage).slice(0, most) : [],
  ]
  return groups.filter(({ length }) => length > 0)
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

addMutators()

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    alone: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    stages: { type: 'boolean', default: false },
    thorough: { type: 'boolean', default: false },
    submission: { type: 'boolean', default: false },
    since: { type: 'string' },
    minutes: { type: 'string' },
    lines: { type: 'string' },
    sample: { type: 'string' },
  },
})
const bounds = values.submission ? SUBMISSION : { lines: Infinity, minutes: Infinity }
const endsAtMs = Date.now() + Number(values.minutes ?? bounds.minutes) * 60_000
const since = values.since ?? (values.submission ? submissionBase() : null)
if (values.submission && since === null) print('no commit is known that this one follows')
const paths = positionals.map((path) => path.replace(/\/$/, ''))
const sources = [
  ...paths.filter((path) => path.startsWith('src/')).flatMap(sourcesIn),
  ...(since === null ? [] : sourcesSince(since, Number(values.lines ?? bounds.lines))),
]
const given = paths.filter((path) => path.startsWith('test/'))
const tests = new Set(
  given.length > 0
    ? given.flatMap((path) => filesIn(path, '.test.ts'))
    : interleaved(sources.map(({ path }) => testsNear(path))),
)

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

if (sources.length > 0) {
  await prepareRun([...tests])
  process.exitCode = (await tryAll()) && since !== null ? 1 : 0
}

/** What tests of all runs of Vitest share (`global-setup.ts`), and a database where they ask for it. */
async function prepareRun(some: string[]): Promise<void> {
  makeRunFolder()
  process.on('exit', () => {
    stopSharedCluster()
    removeRunFolder()
  })
  const imports = new Imports('test/**/*.ts')
  const needed = reached(some, (file) => imports.importedBy(file))
  if (needed.has('test/support/postgres.ts') && hasPostgres()) await sharedCluster()
}

/** @returns whether too few changes are noticed, in a folder that must notice most */
async function tryAll(): Promise<boolean> {
  const withStages = given.length > 0 || values.stages || since !== null
  const groups = inGroups(sources, [...tests], withStages)
  const { mutants, left, constants, untriedInTime } = await tryQuickly(sources, groups, {
    folder,
    endsAtMs,
    sample: Number(values.sample ?? Infinity),
    passes: values.quick ? ['quick'] : ['quick', 'slow'],
    isThorough: values.thorough,
    onProgress: print,
  })
  const rest = values.alone ? await survivorsOf(left) : left
  const unknown = new Set([...(untriedInTime ?? []), ...(values.alone ? [] : constants)])
  const survivors = new Set(withoutEquivalents(rest).filter(({ id }) => !unknown.has(id)))
  for (const one of survivors) print(describe(one))
  const untried = rest.filter(({ id }) => unknown.has(id)).length
  if (untried > 0) print(`${untried} of ${mutants.length} changes were not tried`)
  if (untriedInTime) print('time is up: others were tried, but not by all tests')
  const tried = mutants.filter((one) => survivors.has(one) || !rest.includes(one))
  for (const { path } of sources) {
    const some = tried.filter(({ fileName }) => fileName === path)
    if (some.length > 0) print(score(path, some, survivors))
  }
  print(score('all', tried, survivors))
  const below = untriedInTime === null ? foldersBelow(tried, survivors) : []
  if (below.length > 0) {
    print(`too few in ${below.join(', ')}: test them, or list them in test/mutants-equivalent.txt`)
  }
  return below.length > 0
}

/** Has Stryker try what is left, each in a process that has loaded nothing else. */
async function survivorsOf(some: Mutant[]): Promise<Mutant[]> {
  if (some.length === 0) return []
  process.env['MUTANTS_TESTS'] = [...tests].join(' ')
  const results = await new Stryker({
    configFile: 'config/stryker.json',
    mutate: some.map(({ fileName, location: { start, end } }) =>
      [`${fileName}:${start.line + 1}:${start.column}`, `${end.line + 1}:${end.column}`].join('-'),
    ),
    tempDirName: folder,
  }).runMutationTest()
  const noticed = new Set(
    results
      .filter(({ status }) => status !== 'Survived' && status !== 'NoCoverage')
      .map((one) => describe(countedFromZero(one))),
  )
  return some.filter((one) => !noticed.has(describe(one)))
}

/** Stryker's results count lines and columns from 1. */
function countedFromZero<M extends Mutant>(one: M): M {
  const at = ({ line, column }: Mutant['location']['start']): Mutant['location']['start'] => {
    return { line: line - 1, column: column - 1 }
  }
  const { start, end } = one.location
  const location = { start: at(start), end: at(end) }
  return { ...one, fileName: relative('.', one.fileName), location }
}
