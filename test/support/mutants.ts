/**
 * `npm run mutants -- FILES`: changes files of `src` in one place after the other, and lists the
 * changes that no test near them notices. FILES are files, folders, or lines as `file.ts:10-20`;
 * tests among them are the only ones that run. All of them stay in one process; with `--alone`
 * Stryker then tries each change that is left in one of its own, and those of modules' constants.
 * With `--quick` only quick tests run, with `--stages` also those that start a sidecar.
 *
 * `--since COMMIT` takes the lines that differ from a commit, with stages; `--minutes N` ends after
 * that time, and counts the changes that were not tried by all tests then.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Mutant } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { addMutators } from './mutants-mutators.ts'
import { tryQuickly, type Source } from './mutants-quickly.ts'
import { changedSince } from './mutants-since.ts'
import { rankedTests } from './near.ts'

/** A process of its own has no mutants. */
const STARTS_PROCESSES = /\b(runPostern|spawnPostern)\b/
/** A whole sidecar runs inside then (`sidecar-inside.ts`), and takes seconds for each change. */
const STARTS_SIDECARS = /\b(useStage|startSidecar)\b/

const starts = (what: RegExp, test: string): boolean => what.test(readFileSync(test, 'utf8'))

/** Those of its folder of `src`, and those of others that import it or reach it from outside. */
function testsNear(path: string): string[] {
  const [, name = ''] = path.split('/')
  const own = globSync(`test/${name.replace('.ts', '')}{/**/,}*.test.ts`)
  const near = [...new Set([...own, ...rankedTests(path)])]
  return near.filter((test) => !starts(STARTS_PROCESSES, test))
}

const filesIn = (path: string, ending: string): string[] =>
  statSync(path).isDirectory() ? globSync(`${path}/**/*${ending}`) : [path]

function sourcesIn(path: string): Source[] {
  const [, file, from, to = from] = /^(.+\.ts):(\d+)(?:-(\d+))?$/.exec(path) ?? []
  if (file !== undefined) return [{ path: file, lines: [{ from: Number(from), to: Number(to) }] }]
  return filesIn(path, '.ts').map((one) => ({ path: one, lines: null }))
}

/** Tests of the folders that the sources lie in come first: they notice most. Stages come last. */
function inGroups(all: Source[], tests: string[], withStages: boolean): string[][] {
  const folders = new Set(all.map(({ path }) => dirname(path).replace('src', 'test')))
  const isStage = (test: string): boolean => starts(STARTS_SIDECARS, test)
  const isNear = (test: string): boolean => folders.has(dirname(test)) && !isStage(test)
  const groups = [
    tests.filter(isNear),
    tests.filter((test) => !isNear(test) && !isStage(test)),
    withStages ? tests.filter(isStage) : [],
  ]
  return groups.filter(({ length }) => length > 0)
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

addMutators()

const args = process.argv.slice(2)
const has = (flag: string): boolean => args.includes(flag)
const valueOf = (flag: string): string | undefined =>
  has(flag) ? args[args.indexOf(flag) + 1] : undefined
const since = valueOf('--since')
const minutes = Number(valueOf('--minutes') ?? Infinity)
const endsAtMs = Date.now() + minutes * 60_000
const paths = args.map((path) => path.replace(/\/$/, ''))
const sources = [
  ...paths.filter((path) => path.startsWith('src/')).flatMap(sourcesIn),
  ...(since === undefined ? [] : changedSince(since)),
]
const given = paths.filter((path) => path.startsWith('test/'))
const tests = new Set(
  given.length > 0
    ? given.flatMap((path) => filesIn(path, '.test.ts'))
    : sources.flatMap(({ path }) => testsNear(path)),
)

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const withStages = given.length > 0 || has('--stages') || since !== undefined
const groups = inGroups(sources, [...tests], withStages)
const { mutants, left, constants, untriedInTime } = await tryQuickly(sources, groups, {
  folder,
  endsAtMs,
  passes: has('--quick') ? ['quick'] : ['quick', 'slow'],
  onProgress: print,
})
const untried = has('--alone') ? new Set<string>() : constants
const judged = mutants.filter(({ id }) => !untried.has(id))
const survivors = (has('--alone') ? await survivorsOf(left) : left).filter((one) =>
  judged.includes(one),
)
for (const one of survivors) print(describe(one))
if (untriedInTime !== null) {
  const partly = left.length - untriedInTime
  print(
    `time is up: ${untriedInTime} of ${mutants.length} changes were not tried, ${partly} in part`,
  )
}
for (const { path } of sources) {
  const [all = [], lost = []] = [judged, survivors].map((some) =>
    some.filter(({ fileName }) => fileName === path),
  )
  if (all.length === 0) continue
  const noticed = all.length - lost.length
  const percent = Math.floor((100 * noticed) / all.length)
  const constant = mutants.filter(({ id, fileName }) => fileName === path && untried.has(id)).length
  const rest = constant === 0 ? '' : `, and ${constant} of constants that were not tried`
  print(`${path}: ${percent} % (${noticed} of ${all.length}${rest})`)
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
      .map((one) => describe({ ...one, fileName: relative('.', one.fileName) }, 1)),
  )
  return some.filter((one) => !noticed.has(describe(one)))
}

/**
 * Where it is, what stands there, and what it becomes.
 * @param first how lines and columns are counted: from 0, but in Stryker's results from 1
 */
function describe({ fileName, location, replacement }: Mutant, first = 0): string {
  const at = ({ line, column }: Mutant['location']['start']): Mutant['location']['start'] => {
    return { line: line - first, column: column - first }
  }
  const [start, end] = [at(location.start), at(location.end)]
  const text = readFileSync(fileName, 'utf8')
  const lines = text.split('\n').slice(start.line, end.line + 1)
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column) ?? ''
  lines[0] = lines[0]?.slice(start.column) ?? ''
  const [before, after] = [lines.join(' '), replacement].map((code) => code.replace(/\s+/g, ' '))
  const short = (code = ''): string => (code.length > 100 ? `${code.slice(0, 100)} …` : code)
  return `${fileName}:${start.line + 1}:${start.column + 1} ${short(before)} → ${short(after)}`
}
