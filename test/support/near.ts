/** The tests nearest to a file of the source, which `npm run mutants` tries first. */
import { costOf } from './costs.ts'
import { Imports, reached } from './imports.ts'

const ALWAYS = ['test/architecture.test.ts', 'test/canaries.test.ts']

/** By folder of `src`: what tests its files from outside, through a whole sidecar. */
const FROM_OUTSIDE: Record<string, string[]> = {
  agent: ['agent/sidecar'],
  api: ['contract/direct', 'contract/protected'],
  attachments: ['translate/verdicts'],
  cli: ['rotation/by-hand'],
  config: ['cli/run', 'double/bad-start'],
  http: ['double/fuzz-wire', 'guard/wrong-body-kind'],
  kernel: [
    'guard/latch',
    'guard/mode-flips',
    'guard/private',
    'kernel/opening/replays',
    'translate/one-chat',
    'trust/policies',
  ],
  keys: [
    'double/publication',
    'guard/key-conflict',
    'rotation/by-hand',
    'rotation/lost',
    'rotation/refused',
    'trust/policies',
  ],
  observe: ['double/publication', 'observe/alerts'],
  operators: ['cli/scripts', 'cli/scripts-control', 'rotation/by-hand', 'trust/safety-number'],
  outbox: ['guard/outbox'],
  openpgp: ['guard/private', 'attachments/verdicts', 'translate/signers'],
  sandbox: ['contract/direct'],
  service: ['double/hanging', 'double/lying-upstream', 'guard/mode-flips', 'guard/private'],
  store: ['cli/scripts-control', 'double/bad-start'],
  translate: ['double/hanging', 'guard/private'],
  updates: ['observe/alerts'],
  util: ['guard/private', 'operators/socket', 'sandbox/control'],
  wiring: ['cli/run', 'double/publication', 'observe/alerts'],
}

const imports = new Imports('src/**/*.{ts,js,css,html,svg}', 'test/**/*.ts')
const testFiles = [...imports.texts.keys()].filter(
  (file) => file.endsWith('.test.ts') && !/\.(?:system|long)\.test\.ts$/.test(file),
)

/**
 * All tests that are near to a file of `src`, nearest first, and of the equally near the cheapest:
 * the test that is named like the file, a few that reach it through a whole sidecar, those that
 * import the file, and the tests of the same folder.
 */
export function rankedTests(file: string): string[] {
  const cheapestFirst = (tests: readonly string[]): string[] =>
    tests.toSorted((one, other) => costOf(one).cpu - costOf(other).cpu)
  const ranked = [
    namedLike(file),
    fromOutside(file),
    cheapestFirst(importersAmongTests(file)),
    cheapestFirst(sameFolder(file)),
  ].flat()
  return [...new Set(ranked)].filter((test) => testFiles.includes(test) && !ALWAYS.includes(test))
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
