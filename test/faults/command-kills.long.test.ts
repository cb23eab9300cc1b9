import { afterAll, describe, expect, test } from 'vitest'
import { canTrace } from '../support/faults-strace.ts'
import { killAll } from './command-kills.ts'
import { endChecks, OPERATIONS } from './kill-operations.ts'

afterAll(endChecks)

const WHOLE = 'npm run faults -- --kills has them all'
/** Those that change a store; the others copy from it. */
const CHANGES = OPERATIONS.filter(({ name }) => !/export|create/.test(name))
const DEEDS = ['signal=KILL', 'error=EIO', 'error=ENOSPC'] as const

/** Skipped where programs cannot be traced: no strace, or no right to. */
describe.skipIf(!canTrace)(
  `a command with a kill or an error at a system call (one each; ${WHOLE})`,
  () => {
    test.each(CHANGES.map((operation, n) => ({ ...operation, inject: DEEDS[n % 3] ?? DEEDS[0] })))(
      'the command `$name` with $inject at a system call leaves store and files intact',
      async ({ inject, ...operation }) => {
        const { calls, tried, broken } = await killAll(operation, { points: 1, inject })
        expect(broken).toEqual([])
        expect(calls).toBeGreaterThan(tried)
      },
      240_000,
    )
  },
)
