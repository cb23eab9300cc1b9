/** What the specification fixes stands in the kernel as it stands in `api`. */
import { expect, test } from 'vitest'
import { FIXED_LIMITS } from '../../../src/api/limits.ts'
import { RETENTION_MS } from '../../../src/kernel/opening/seen-rules.ts'

test('an update is kept for as long as the specification says', () => {
  expect(RETENTION_MS).toBe(FIXED_LIMITS.retentionMs)
})
