import { writeFileSync } from 'node:fs'
import { SEED } from './chance.ts'
import { lacks } from './lacks.ts'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends a run with the one plain line that tools read: `N passed, N failed, N skipped`, or writes it
 * to the file that `TESTS_TALLY` names, where a caller adds several runs. Before it are the reasons
 * of skipped tests, and, after a failure, the seed that repeats the run.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[] = []): void {
    const reasons = new Set(lacks())
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, ...result } = test.result()
        if ('note' in result && result.note !== undefined) reasons.add(result.note)
        counts[state === 'pending' ? 'skipped' : state] += 1
      }
      counts.failed += module.errors().length
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
    }
    const { passed, failed, skipped } = counts
    if (skipped > 0) for (const reason of reasons) process.stdout.write(`skipped: ${reason}\n`)
    if (failed > 0) process.stdout.write(`with the seed of the tests FUZZ_SEED=${SEED}\n`)
    const line = `${passed} passed, ${failed} failed, ${skipped} skipped\n`
    const tally = process.env['TESTS_TALLY']
    if (tally === undefined) process.stdout.write(line)
    else writeFileSync(tally, line)
  }
}
