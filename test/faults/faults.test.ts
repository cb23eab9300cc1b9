import { describe, expect, test } from 'vitest'
import { runOnce } from './one-run.ts'

describe('a sidecar in trouble keeps every promise (npm run faults has thousands of seeds)', () => {
  test.each([
    [1, 'polls'],
    [2, 'has a webhook'],
  ])(
    'seed %i, with a bot that %s',
    async (seed, hears) => {
      const hasWebhook = hears !== 'polls'
      const { breaches, line } = await runOnce(seed, { troubleMs: 3000, hasWebhook })
      expect(breaches, line).toEqual([])
    },
    240_000,
  )
})
