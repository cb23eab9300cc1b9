import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { lowCost } from '../test/support/changed-constants.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { MUTANTS_TESTS = '', MUTANTS_SOURCES, MUTANTS_PASS } = process.env

/** Sources with all changes built in, for `test/support/mutants-quickly.ts`; null for Stryker. */
const sources =
  MUTANTS_SOURCES === undefined
    ? null
    : (JSON.parse(readFileSync(MUTANTS_SOURCES, 'utf8')) as Record<string, string>)

const changed = {
  name: 'changed',
  enforce: 'pre',
  load: (id: string) => sources?.[id.replace(root, '')] ?? null,
} as const

const tests = MUTANTS_TESTS.split(' ')

/** The nearest tests come first. */
class Sequencer extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      tests.indexOf(relative(root, moduleId))
    return Promise.resolve(files.toSorted((one, other) => place(one) - place(other)))
  }
}

/** The tests that `test/support/mutants.ts` names, which see the mutants of their own process. */
export default defineConfig({
  plugins: [changed, lowCost],
  test: {
    root,
    include: tests,
    sequence: { sequencer: Sequencer },
    isolate: false,
    // What is loaded is not what the files say.
    fsModuleCache: false,
    setupFiles: ['test/support/canaries-setup.ts'],
    testTimeout: MUTANTS_PASS === 'quick' ? 1_500 : 8_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: MUTANTS_PASS === 'quick' ? 1_000 : 5_000 } },
    ...(sources === null
      ? {}
      : { pool: 'forks', maxWorkers: 1, runner: './test/support/mutants-runner.ts' }),
  },
})
