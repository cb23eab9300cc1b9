import { describe, expect, test } from 'vitest'
import { runOnce } from './one-run.ts'

describe('a sidecar in trouble keeps every promise (npm run faults has thousands of seeds)', () => {
  test.each([1, 2])(
    'seed %i',
    async (seed) => {
      const { breaches, line } = await runOnce(seed, { troubleMs: 3000 })
      expect(breaches, line).toEqual([])
    },
    240_000,
  )
})
