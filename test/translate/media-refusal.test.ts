import { expect, test } from 'vitest'
import { refusalOf } from '../../src/translate/media-refusal.ts'
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
] as const)('%s is refused as %s, with the reason alone', (verdict, code) => {
  expect(refusalOf(verdict).code).toBe(code)
  const { message } = refusalOf(verdict, 'other-chat')
  expect(message).toMatch(/: other-chat$/)
  expect(message).not.toContain(`${verdict}, `)
})

test.each(['verified', 'unsigned', 'before-key', 'unknown-signer', 'signer-unavailable'] as const)(
  '%s is refused as a bad signature, which says the verdict too',
  (verdict) => {
    expect(refusalOf(verdict).code).toBe('postern_bad_signature')
    expect(refusalOf(verdict).message.endsWith(`: ${verdict}`)).toBe(true)
    expect(refusalOf(verdict, 'other-chat').message).toContain(`${verdict}, other-chat`)
  },
)

const PASSING: Verdict[] = ['signer-unavailable', 'unknown-signer', 'damaged']

test.each(PASSING)('%s that may be otherwise soon says when to ask again', (verdict) => {
  const busy = refused('postern_busy', 'certificate', { extra: { retryAfter: 5 } })
  expect(refusalOf(verdict, 'own-key', 'busy')).toEqual(busy)
})

test.each(PASSING)('%s for a call that failed says that the service was not reached', (verdict) => {
  const refusal = refusalOf(verdict, 'own-key', 'failed')
  expect([refusal.code, refusal.extra]).toEqual(['postern_upstream_unreachable', {}])
  expect(refusal.message).toContain('the sender’s certificate')
})
