import { Refusal, busyRefusal, type OwnCode } from '../errors.ts'
import type { Reason, TransientError, Verdict } from '../kernel/index.ts'

const RETRY_AFTER_SECONDS = 5

/** The code of each verdict under which an attachment is not given. */
const CODES: Record<Verdict, OwnCode> = {
  verified: 'postern_bad_signature',
  unsigned: 'postern_bad_signature',
  'before-key': 'postern_bad_signature',
  'unknown-signer': 'postern_bad_signature',
  'signer-unavailable': 'postern_bad_signature',
  'bad-signature': 'postern_bad_signature',
  'plaintext-in-protected': 'postern_plaintext_in_protected',
  replayed: 'postern_replayed',
  'not-recipient': 'postern_not_recipient',
  damaged: 'postern_damaged',
  'too-large': 'postern_media_too_large',
  locked: 'postern_locked',
  'mode-unknown': 'postern_upstream_invalid',
}

/**
 * The answer for an attachment that is withheld. A temporary cause has its own code and
 * `retryAfter`.
 * @param reason of our own, @param transientError why a later request may succeed
 */
export function refusalOf(
  verdict: Verdict,
  reason?: Reason,
  transientError?: TransientError,
): Refusal {
  if (transientError === 'busy') {
    return busyRefusal('the sender’s certificate could not be asked for', RETRY_AFTER_SECONDS)
  }
  if (transientError === 'failed') {
    return new Refusal('postern_upstream_unreachable', 'the sender’s certificate')
  }
  const code = CODES[verdict]
  const isSaid = code !== 'postern_bad_signature' || verdict === 'bad-signature'
  const detail = [isSaid ? undefined : verdict, reason].filter((part) => part !== undefined)
  return new Refusal(code, detail.join(', '))
}
