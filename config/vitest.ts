import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { hasPostgres } from '../test/support/postgres.ts'
import { isInstalled } from '../test/support/programs.ts'
import { Imports, reached } from '../test/support/imports.ts'
import { engineOfTests, lowCost } from '../test/support/changed-constants.ts'
import { LongestFirst } from '../test/support/longest-first.ts'
import { COMPILED } from '../test/support/postern-process.ts'

/**
 * What shares its process with the files after it, since it leaves nothing behind there: to load
 * what is tested once, and not for each file, saves a third of the CPU time of these.
 */
const TOGETHER = [
  'test/*.test.ts',
  'test/{attachments,bounds,cli,config,contract,double,guard,http,kernel,keys,observe,openpgp,operators,outbox,rotation}/**/*.test.ts',
  'test/{sandbox,service,store,translate,trust,updates,util,vectors,wiring}/**/*.test.ts',
]

/** Not these: threads and programs that are killed, memory, the environment, modules under spies. */
const APART = [
  'test/canaries.test.ts',
  'test/store/postgres/*.test.ts',
  'test/wiring/{handed-in-values,order}.test.ts',
  'test/openpgp/{checker,engine,pool,starting-threads,native/dying-threads}.test.ts',
  'test/service/{proxy,tls}.test.ts',
  'test/vectors/chats.test.ts',
]

/** What a store must do whatever keeps it: these run once more against a real PostgreSQL. */
const ON_POSTGRES = [
  'test/kernel/**/*.test.ts',
  'test/keys/*.test.ts',
  'test/outbox/entries.test.ts',
  'test/store/{bot-of-store,choosing,keeping,moving,open-store,row-seal,write-first}.test.ts',
]

/** Test files that open a store get one in PostgreSQL. */
const onPostgres: Plugin = {
  name: 'on-postgres',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id.endsWith('/src/store/open-store.ts') &&
    importer?.includes('/test/') === true &&
    !importer.endsWith('-on-postgres.ts')
      ? fileURLToPath(new URL('../test/support/open-store-on-postgres.ts', import.meta.url))
      : null,
}

/**
 * `npm test` needs Node alone. `--mode=system` runs files named `*.system.test.ts`, which need a
 * container, a package, a browser, a database server, an OpenPGP program or a kill, and tests of
 * both kinds that prove more with GnuPG or PostgreSQL. `--mode=all` adds `*.long.test.ts`.
 */
const SYSTEM = 'test/**/*.system.test.ts'
const LONG = 'test/**/*.long.test.ts'
/** Of files with some tests that need a program: what these import. */
const DOORS = ['openpgp-gpg', 'postgres', 'go-bot']
const mode = /^--mode=(\w+)$/m.exec(process.argv.join('\n'))?.[1] ?? 'quick'
const isSystem = mode !== 'quick'
process.env['TESTS_KIND'] = isSystem ? 'system' : 'quick'

// For the threads of engines in the tests' own processes, and the programs that these start.
process.env['NODE_COMPILE_CACHE'] ??= COMPILED

// Chosen once for all processes of the tests; the reporter says it when something fails.
if (process.env['FUZZ_SEED'] === 'random') process.env['FUZZ_SEED'] = String(randomInt(1e9))

const root = fileURLToPath(new URL('..', import.meta.url))
const imports = new Imports('test/**/*.ts')
const reaches = (file: string, target: string): boolean =>
  reached([file], (one) => imports.importedBy(one)).has(target)
/** Without those that open no store themselves: nothing would be another than in the first run. */
const onBoth = globSync(ON_POSTGRES, { cwd: root, exclude: [SYSTEM, LONG] }).filter((file) =>
  reaches(file, 'src/store/open-store.ts'),
)
const quick = globSync('test/**/*.test.ts', { cwd: root, exclude: [SYSTEM, LONG] })
/** What gives people phones, which are GnuPG there. */
const withGpg = quick.filter((file) => reaches(file, 'test/support/double-stage.ts'))
/** Other files in which some tests need a program. */
const inPart = quick.filter(
  (file) =>
    !withGpg.includes(file) &&
    (/\b(?:isInstalled|works)\(/.test(imports.texts.get(file) ?? '') ||
      DOORS.some((door) => reaches(file, `test/support/${door}.ts`))),
)
const together = globSync(TOGETHER, { cwd: root, exclude: [...APART, SYSTEM, LONG] })

const isMeasured = process.env['TESTS_SECONDS'] !== undefined
const setupFiles = [
  ...(isMeasured ? ['test/support/seconds-setup.ts'] : []),
  'test/support/canaries-setup.ts',
]

export default defineConfig({
  plugins: [lowCost, engineOfTests],
  test: {
    root,
    projects: isSystem
      ? [
          {
            extends: true,
            test: {
              name: 'system',
              include: [SYSTEM, ...inPart, ...(mode === 'all' ? [LONG] : [])],
            },
          },
          {
            extends: true,
            test: {
              name: 'gpg',
              isolate: false,
              include: isInstalled('gpg') ? withGpg : [],
              env: { TESTS_PHONES: 'gpg' },
            },
          },
          {
            extends: true,
            plugins: [onPostgres],
            test: {
              name: 'postgres',
              isolate: false,
              include: hasPostgres() ? onBoth : [],
              env: { TESTS_STORE_KIND: 'postgres' },
              setupFiles: ['test/support/postgres-setup.ts'],
            },
          },
        ]
      : [
          {
            extends: true,
            test: {
              name: 'apart',
              include: ['test/**/*.test.ts'],
              exclude: [...together, LONG, SYSTEM],
            },
          },
          { extends: true, test: { name: 'together', isolate: false, include: together } },
        ],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },

    // Tests wait for real processes much of the time, so more run at once than there are cores. A
    // share of the cores would not do: Vitest takes at most 100 %.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles,
    // What ends a test that hangs. The few that take long name how long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000 } },
    reporters: ['default', './test/support/plain-reporter.ts'],
  },
})
