import { afterAll, describe, expect, test } from 'vitest'
import { endChecks, OPERATIONS } from './kill-operations.ts'
import { canTrace, killAll } from './kills.ts'

afterAll(endChecks)

/** A sample for every run of the tests; `npm run faults -- --kills` tries them all. */
const POINTS = 5

describe.skipIf(!canTrace)('a command that is killed before one of its system calls', () => {
  test.each(OPERATIONS)(
    '$name leaves everything whole',
    async (operation) => {
      const { calls, tried, broken } = await killAll(operation, { points: POINTS })
      expect(broken, `${tried} of ${calls} points`).toEqual([])
      expect(calls).toBeGreaterThan(POINTS)
    },
    240_000,
  )
})

describe.skipIf(!canTrace)('a disk that fails under a command', () => {
  const errors = ['error=EIO', 'error=ENOSPC']
  test.each(errors.flatMap((inject) => OPERATIONS.map((operation) => ({ inject, ...operation }))))(
    '$name keeps what was there at $inject, whatever it says',
    async ({ inject, ...operation }) => {
      const { tried, broken } = await killAll(operation, { points: 2, inject })
      expect(broken).toEqual([])
      expect(tried).toBe(2)
    },
    240_000,
  )
})
