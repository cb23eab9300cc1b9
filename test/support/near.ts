/**
 * `npm run near -- src/keys/publication.ts`: runs the tests nearest to files or folders, or without a
 * name to what git says is changed, as many as take some 10 s on two cores. Nearest are, in this
 * order, the test that is named like the file, a few that reach it through a process, those that
 * import the file (not those that import what imports it), and the tests of the same folder.
 */
import { execFileSync, spawnSync } from './programs.ts'
import { statSync } from 'node:fs'
import { join, normalize, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { costOf } from './costs.ts'
import { Imports, reached } from './imports.ts'
import { LONG } from './long.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = ['src/**/*.{ts,js,css,html,svg}', 'test/**/*.ts']
const ALWAYS = ['test/architecture.test.ts', 'test/canaries.test.ts']

/** What one changed file may cost beside the start of the run: seconds of the CPU, and of the clock. */
export const BUDGET = { cpu: 16, clock: 10 }
/** What Vitest runs at once (`config/vitest.ts`). */
const WORKERS = 4

/** What tests the pages. */
const PAGES = ['test/docs/links.test.ts', 'test/docs/pages.test.ts']

/** By folder of `src`: what tests its files from outside, through a whole sidecar. */
export const FROM_OUTSIDE: Record<string, string[]> = {
  agent: ['agent/sidecar'],
  api: ['contract/direct', 'contract/protected'],
  cli: ['rotation/by-hand'],
  config: ['cli/run', 'double/bad-start'],
  control: ['cli/scripts', 'rotation/by-hand'],
  doctor: ['cli/scripts-control'],
  http: ['double/fuzz-wire', 'guard/wrong-body-kind'],
  kernel: [
    'guard/latch',
    'guard/mode-flips',
    'guard/private',
    'kernel/opening/replays',
    'translate/one-chat',
    'trust/policies',
  ],
  lookups: ['guard/mode-flips', 'guard/private', 'trust/authorities'],
  keys: [
    'double/publication',
    'guard/key-conflict',
    'rotation/by-hand',
    'rotation/lost',
    'rotation/refused',
    'trust/policies',
  ],
  bots: ['several/two-bots'],
  media: ['translate/verdicts'],
  reports: ['observe/alerts'],
  observe: ['double/publication'],
  outbox: ['guard/outbox', 'several/outbox'],
  openpgp: ['double/interop', 'guard/private', 'media/verdicts', 'translate/signers'],
  rpc: ['control/socket', 'sandbox/control'],
  sandbox: ['contract/direct'],
  replicas: ['several/several', 'several/round-trips', 'doctor/database'],
  store: ['cli/scripts-control', 'double/bad-start'],
  testing: ['examples/projects'],
  translate: ['double/hanging', 'guard/private'],
  trust: ['cli/scripts-control', 'trust/authorities', 'trust/safety-number'],
  updates: ['observe/alerts'],
  util: ['guard/private'],
  upstream: ['bounds/slow-bodies', 'double/hanging', 'double/lying-upstream'],
  wiring: ['cli/run', 'double/publication'],
}

const imports = new Imports(...FILES)
const testFiles = [...imports.texts.keys()].filter(
  (file) => file.endsWith('.test.ts') && !LONG.includes(file),
)

/**
 * The test files to run, without those that no longer fit into the budget of each changed file.
 * @param paths files and folders of `src`, `test` or the pages, from the root of the project
 */
export function nearestTests(paths: readonly string[]): string[] {
  const chosen = paths.flatMap(filesOf).flatMap((file) => withinBudget(rankedTests(file)))
  return [...new Set([...ALWAYS, ...chosen])].toSorted()
}

/** All tests that are near to one file, nearest first, and of the equally near the cheapest. */
export function rankedTests(file: string): string[] {
  const cheapestFirst = (tests: readonly string[]): string[] =>
    tests.toSorted((one, other) => costOf(one).cpu - costOf(other).cpu)
  const ranked = [
    namedLike(file),
    fromOutside(file),
    cheapestFirst(importersAmongTests(file)),
    cheapestFirst(sameFolder(file)),
    file.endsWith('.md') ? PAGES : [],
  ].flat()
  return [...new Set(ranked)].filter((test) => testFiles.includes(test) && !ALWAYS.includes(test))
}

/** Those that fit, in their order, or the cheapest of all when none does. */
function withinBudget(ranked: readonly string[]): string[] {
  let cpu = 0
  let clock = 0
  const fitting = ranked.filter((test) => {
    const cost = costOf(test)
    const fits =
      cpu + cost.cpu <= BUDGET.cpu &&
      cost.clock <= BUDGET.clock &&
      (clock + cost.clock) / WORKERS <= BUDGET.clock
    if (!fits) return false
    cpu += cost.cpu
    clock += cost.clock
    return true
  })
  const cheapest = ranked.toSorted((one, other) => costOf(one).clock - costOf(other).clock)
  return fitting.length > 0 ? fitting : cheapest.slice(0, 1)
}

function filesOf(path: string): string[] {
  const isFolder = statSync(join(ROOT, path), { throwIfNoEntry: false })?.isDirectory() ?? false
  if (!isFolder) return [normalize(path)]
  return [...imports.texts.keys()].filter((file) => file.startsWith(`${normalize(path)}/`))
}

/** `test/keys/keyring.test.ts` and `keyring-taking.test.ts` are named like `src/keys/keyring.ts`. */
function namedLike(file: string): string[] {
  if (file.startsWith('test/')) return [file].filter((one) => one.endsWith('.test.ts'))
  const stem = file.replace(/^src\//, 'test/').replace(/\.\w+$/, '')
  return testFiles.filter((test) => test === `${stem}.test.ts` || test.startsWith(`${stem}-`))
}

/** Of the deepest folder of `test` that is called like one that the file is in. */
function sameFolder(file: string): string[] {
  const [top, ...rest] = file.split('/')
  if (top !== 'src') return []
  for (let folder = rest.slice(0, -1); folder.length > 0; folder = folder.slice(0, -1)) {
    const found = testFiles.filter((test) => test.startsWith(`test/${folder.join('/')}/`))
    if (found.length > 0) return found
  }
  return []
}

function fromOutside(file: string): string[] {
  const [top, folder = ''] = file.split('/')
  const isSource = top === 'src' && file.endsWith('.ts')
  const names = isSource ? (FROM_OUTSIDE[folder] ?? FROM_OUTSIDE['wiring'] ?? []) : []
  return names.map((name) => `test/${name}.test.ts`)
}

/** Tests that import a file, themselves or through others of `test`. */
function importersAmongTests(file: string): string[] {
  const fromTests = (target: string) =>
    imports.importersOf(target).filter((importer) => importer.startsWith('test/'))
  const steps = reached([file], fromTests)
  return testFiles.filter((test) => steps.has(test))
}

const isThere = (file: string): boolean =>
  statSync(join(ROOT, file), { throwIfNoEntry: false }) !== undefined

/** What differs from the last commit, and what git does not know yet. */
function changedFiles(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n')
  const all = [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('ls-files', '-o', '--exclude-standard'),
  ]
  return all.filter((file) => (imports.texts.has(file) || file.endsWith('.md')) && isThere(file))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2)
  const named = args.filter((arg) => !arg.startsWith('-'))
  const missing = named.filter((path) => !isThere(path))
  if (missing.length > 0) throw new Error(`not there: ${missing.join(', ')}`)
  const paths = named.length > 0 ? named : changedFiles()
  const options = args.filter((arg) => arg.startsWith('-'))
  const files = paths.map((path) => relative(ROOT, join(ROOT, path)))
  const tests = nearestTests(files)
  const further = new Set(files.flatMap(filesOf).flatMap(rankedTests))
  for (const test of tests) further.delete(test)
  if (further.size > 0) process.stdout.write(`left for npm test: ${further.size} more test files\n`)
  const vitest = ['run', '--config', 'config/vitest.ts', ...options, ...tests]
  process.exitCode = spawnSync('vitest', vitest, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
