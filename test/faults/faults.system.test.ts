import { expect, test } from 'vitest'
import { runOnce } from './one-run.ts'

test.each([
  [1, 'polling bot'],
  [2, 'webhook bot'],
])(
  'a sidecar keeps every promise in the fault run of seed %i with a %s',
  async (seed, hears) => {
    const hasWebhook = hears === 'webhook bot'
    const { breaches, line } = await runOnce(seed, { troubleMs: 3000, hasWebhook })
    expect(breaches, line).toEqual([])
  },
  240_000,
)
