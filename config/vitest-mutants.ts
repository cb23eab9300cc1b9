import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { lowCost } from '../test/support/changed-constants.ts'

/** The tests that `test/support/mutants.ts` names, which see the mutants of their own process. */
export default defineConfig({
  plugins: [lowCost],
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: process.env['MUTANTS_TESTS']?.split(' ') ?? [],
    isolate: false,
    setupFiles: ['test/support/canaries-setup.ts'],
    testTimeout: 8_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 5_000 } },
  },
})
