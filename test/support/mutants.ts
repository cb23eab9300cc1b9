/**
 * `npm run mutants -- FILES`: changes files of `src` in one place after the other, and lists the
 * changes that no test near them notices. FILES are files, folders, or lines as `file.ts:10-20`;
 * tests among them are the only ones that run. All of them stay in one process; with `--alone`
 * Stryker then tries each change that is left in one of its own, and those of modules' constants.
 * With `--quick` only quick tests run.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Mutant } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { tryQuickly, type Source } from './mutants-quickly.ts'

/** Tests of what lies in no folder. */
const OF_FILES: Record<string, string> = {
  'permit.ts': '{translate,upstream}/{permits,guard*}',
}

/**
 * Left out unless they are named: a process of its own has no mutants, and a whole sidecar, which
 * then runs inside (`sidecar-inside.ts`), takes long for each of them.
 */
const STARTS_PROCESSES = /\b(useStage|startSidecar|runPostern|spawnPostern)\b/

function testsNear(path: string): string[] {
  const [, name = ''] = path.split('/')
  const files = globSync(`test/${OF_FILES[name] ?? `${name.replace('.ts', '')}{/**/,}*`}.test.ts`)
  return files.filter((file) => !STARTS_PROCESSES.test(readFileSync(file, 'utf8')))
}

const filesIn = (path: string, ending: string): string[] =>
  statSync(path).isDirectory() ? globSync(`${path}/**/*${ending}`) : [path]

function sourcesIn(path: string): Source[] {
  const [, file, from, to = from] = /^(.+\.ts):(\d+)(?:-(\d+))?$/.exec(path) ?? []
  if (file !== undefined) return [{ path: file, lines: { from: Number(from), to: Number(to) } }]
  return filesIn(path, '.ts').map((one) => ({ path: one, lines: null }))
}

/** Tests of the folders that the sources lie in come first: they notice most. */
function inGroups(all: Source[], tests: string[]): string[][] {
  const folders = new Set(all.map(({ path }) => dirname(path).replace('src', 'test')))
  const isNear = (test: string): boolean => folders.has(dirname(test))
  const groups = [tests.filter(isNear), tests.filter((test) => !isNear(test))]
  return groups.filter(({ length }) => length > 0)
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const args = process.argv.slice(2)
const has = (flag: string): boolean => args.includes(flag)
const paths = args.map((path) => path.replace(/\/$/, ''))
const sources = paths.filter((path) => path.startsWith('src/')).flatMap(sourcesIn)
const given = paths.filter((path) => path.startsWith('test/'))
const tests = new Set(
  given.length > 0
    ? given.flatMap((path) => filesIn(path, '.test.ts'))
    : sources.flatMap(({ path }) => testsNear(path)),
)

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const { mutants, left, constants } = await tryQuickly(sources, inGroups(sources, [...tests]), {
  folder,
  passes: has('--quick') ? ['quick'] : ['quick', 'slow'],
  onProgress: print,
})
const untried = has('--alone') ? new Set<string>() : constants
const judged = mutants.filter(({ id }) => !untried.has(id))
const survivors = (has('--alone') ? await survivorsOf(left) : left).filter((one) =>
  judged.includes(one),
)
for (const one of survivors) print(describe(one))
for (const { path } of sources) {
  const [all = [], lost = []] = [judged, survivors].map((some) =>
    some.filter(({ fileName }) => fileName === path),
  )
  const noticed = all.length - lost.length
  const percent = Math.floor((100 * noticed) / (all.length || 1))
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
