import { SEED } from './chance.ts'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends a run with the one plain line that tools read: `N passed, N failed, N skipped`. When
 * something failed, the line before it is what repeats the run.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[] = []): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state === 'pending' ? 'skipped' : state] += 1
      }
      counts.failed += module.errors().length
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
    }
    const { passed, failed, skipped } = counts
    if (failed > 0) process.stdout.write(`with the seed of the tests FUZZ_SEED=${SEED}\n`)
    process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  }
}
