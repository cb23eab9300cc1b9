import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What starts hundreds of processes, or tries every bit: run by `npm run test:all` alone. */
const LONG = [
  'test/cli/backups.test.ts',
  'test/cli/key-files.test.ts',
  'test/cli/protect.test.ts',
  'test/faults/command-kills.test.ts',
  'test/faults/rotation-kills.test.ts',
  'test/pgp/bulk/flips.test.ts',
  'test/rotation/lost.test.ts',
  'test/rotation/refused.test.ts',
]

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    exclude: process.argv.includes('--mode=all') ? [] : LONG,
    pool: 'forks',
    // Tests wait for real processes much of the time, so more run at once than there are cores.
    maxWorkers: '150%',
    setupFiles: ['test/support/canaries-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/plain-reporter.ts'],
  },
})
