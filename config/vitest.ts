import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Tests wait for real processes much of the time, so more run at once than there are cores.
    maxWorkers: '150%',
    setupFiles: ['test/support/canaries-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/plain-reporter.ts'],
  },
})
