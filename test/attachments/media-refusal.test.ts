import { expect, test } from 'vitest'
import { refusalOf } from '../../src/attachments/media-refusal.ts'
import { refused } from '../support/refused.ts'
import type { Verdict } from '../../src/kernel/opening/verdict.ts'

test.each([
  ['bad-signature', 'postern_bad_signature'],
  ['plaintext-in-protected', 'postern_plaintext_in_protected'],
  ['replayed', 'postern_replayed'],
  ['not-recipient', 'postern_not_recipient'],
  ['damaged', 'postern_damaged'],
  ['too-large', 'postern_media_too_large'],
  ['locked', 'postern_locked'],
  ['mode-unknown', 'postern_upstream_invalid'],
] as const)('a file with the verdict %s is refused as %s with its reason', (verdict, code) => {
  expect(refusalOf(verdict).code).toBe(code)
  const { message } = refusalOf(verdict, 'other-chat')
  expect(message).toMatch(/: other-chat$/)
  expect(message).not.toContain(`${verdict}, `)
})

test.each(['verified', 'unsigned', 'before-key', 'unknown-signer', 'signer-unavailable'] as const)(
  'a file with the verdict %s is refused as `postern_bad_signature` with verdict and reason',
  (verdict) => {
    expect(refusalOf(verdict).code).toBe('postern_bad_signature')
    expect(refusalOf(verdict).message.endsWith(`: ${verdict}`)).toBe(true)
    expect(refusalOf(verdict, 'other-chat').message).toContain(`${verdict}, other-chat`)
  },
)

const PASSING: Verdict[] = ['signer-unavailable', 'unknown-signer', 'damaged']

test.each(PASSING)(
  'a file with the verdict %s for lack of calls is refused as `postern_busy` with a retry time',
  (verdict) => {
    const busy = refused('postern_busy', 'certificate', { extra: { retryAfter: 5 } })
    expect(refusalOf(verdict, 'own-key', 'busy')).toEqual(busy)
  },
)

test.each(PASSING)(
  'a file with the verdict %s after a failed call is refused as `postern_upstream_unreachable`',
  (verdict) => {
    const refusal = refusalOf(verdict, 'own-key', 'failed')
    expect([refusal.code, refusal.extra]).toEqual(['postern_upstream_unreachable', {}])
    expect(refusal.message).toContain('the sender’s certificate')
  },
)
