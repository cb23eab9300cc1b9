/**
 * `npm run near -- src/keys/publication.ts`: runs the tests nearest to files or folders, or without a
 * name to what git says is changed. Nearest are the tests of the same folder, those that import
 * the file (not those that import what imports it), and a few that reach it through a process.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '../..')
const ALWAYS = ['test/architecture.test.ts', 'test/canaries.test.ts']

/** By folder of `src`: what tests its files from outside, through a whole sidecar. */
export const FROM_OUTSIDE: Record<string, string[]> = {
  api: ['contract/direct', 'contract/protected'],
  cli: ['rotation/by-hand'],
  config: ['cli/run', 'double/bad-start'],
  control: ['cli/scripts', 'rotation/by-hand'],
  doctor: ['cli/commands'],
  http: ['double/fuzz-wire', 'guard/wrong-body-kind'],
  kernel: [
    'guard/latch',
    'guard/mode-flips',
    'guard/private',
    'kernel/opening/replays',
    'translate/one-chat',
    'trust/policies',
  ],
  lookups: ['guard/mode-flips', 'guard/private'],
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
  openpgp: ['double/interop', 'guard/private', 'media/verdicts', 'translate/signers'],
  rpc: ['control/socket', 'sandbox/control'],
  sandbox: ['contract/direct'],
  replicas: ['several/several', 'several/round-trips', 'doctor/database'],
  store: ['cli/scripts', 'double/bad-start'],
  testing: ['examples/projects'],
  translate: ['double/hanging', 'guard/private'],
  updates: ['observe/alerts'],
  util: ['guard/private'],
  upstream: ['bounds/slow-bodies', 'double/hanging', 'double/lying-upstream'],
  wiring: ['cli/run', 'double/publication'],
}

/**
 * The test files to run.
 * @param paths files and folders of `src` or `test`, from the root of the project
 */
export function nearestTests(paths: readonly string[]): string[] {
  const changed = paths.flatMap(filesOf)
  const importers = importersAmongTests(changed)
  const near = changed.flatMap((file) => [...sameFolder(file), ...fromOutside(file)])
  const tests = [...ALWAYS, ...near, ...importers].filter((file) => file.endsWith('.test.ts'))
  return [...new Set(tests)].toSorted()
}

function filesOf(path: string): string[] {
  const isFolder = statSync(join(ROOT, path), { throwIfNoEntry: false })?.isDirectory() ?? false
  return isFolder ? globSync(`${path}/**/*.ts`, { cwd: ROOT }) : [normalize(path)]
}

/** Of the deepest folder of `test` that is called like one that the file is in, and of its name. */
function sameFolder(file: string): string[] {
  const [top, ...rest] = file.split('/')
  if (top === 'test') return [file]
  if (top !== 'src') return []
  const own = `test/${rest.join('/').replace(/\.ts$/, '')}.test.ts`
  for (let folder = rest.slice(0, -1); folder.length > 0; folder = folder.slice(0, -1)) {
    const found = globSync(`test/${folder.join('/')}/**/*.test.ts`, { cwd: ROOT })
    if (found.length > 0) return [own, ...found].filter((name) => isThere(name))
  }
  return [own].filter((name) => isThere(name))
}

function fromOutside(file: string): string[] {
  const [top, folder = ''] = file.split('/')
  const names = top === 'src' ? (FROM_OUTSIDE[folder] ?? FROM_OUTSIDE['wiring'] ?? []) : []
  return names.map((name) => `test/${name}.test.ts`)
}

/** Files of `test` that import one of these, themselves or through other files of `test`. */
function importersAmongTests(files: readonly string[]): Set<string> {
  const tests = globSync('test/**/*.ts', { cwd: ROOT })
  const imports = new Map(tests.map((test) => [test, importsOf(test)]))
  const reached = new Set(files)
  const found = new Set<string>()
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const [test, targets] of imports) {
      if (!targets.some((target) => reached.has(target))) continue
      found.add(test)
      reached.add(test)
    }
  }
  return found
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = text.matchAll(/(?:\bfrom |\bimport\(|\bimport )'(\.[^']+)'/g)
  return [...found].map(([, specifier = '']) => normalize(join(dirname(file), specifier)))
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
  return all.filter((file) => file.endsWith('.ts') && isThere(file))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2)
  const named = args.filter((arg) => !arg.startsWith('-'))
  const missing = named.filter((path) => !isThere(path))
  if (missing.length > 0) throw new Error(`not there: ${missing.join(', ')}`)
  const paths = named.length > 0 ? named : changedFiles()
  const options = args.filter((arg) => arg.startsWith('-'))
  const tests = nearestTests(paths.map((path) => relative(ROOT, join(ROOT, path))))
  const vitest = ['run', '--config', 'config/vitest.ts', ...options, ...tests]
  process.exitCode = spawnSync('vitest', vitest, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
