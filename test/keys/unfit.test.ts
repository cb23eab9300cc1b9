import { expect, test } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'
import { unfitKey } from '../../src/keys/unfit.ts'
import type { UnfitReason } from '../../src/openpgp/failure-reasons.ts'

const REASONS: Record<UnfitReason, RegExp> = {
  unparseable: /not one OpenPGP secret key/,
  'public-only': /public key alone/,
  'several-keys': /several keys/,
  'subkeys-only': /without the primary key/,
  stub: /not in this export/,
  smartcard: /is on a smartcard/,
  'unusual-s2k': /locked in a way/,
  'passphrase-missing': /has a passphrase/,
  'passphrase-wrong': /does not open it/,
  inconsistent: /do not belong together/,
  version: /version 4/,
  'newer-algorithm': /many programs do not read/,
  'weak-algorithm': /2048 to 4096 bits/,
  revoked: /is revoked/,
  expired: /has expired/,
  'not-yet-valid': /in the future/,
  'no-encryption-subkey': /no subkey that one can encrypt to/,
  'no-signing-key': /no key that can sign/,
  'not-working': /did not open and verify/,
  'too-large': /larger than the service takes/,
}

test.each(Object.entries(REASONS) as [UnfitReason, RegExp][])(
  'a key that is refused as %s says so, and what to do',
  (reason, words) => {
    const { code, message, hint } = unfitKey(reason)
    expect(code).toBe(reason.startsWith('passphrase-') ? 'passphrase' : 'refused')
    expect(message).toMatch(/^the key cannot be the bot’s: /)
    expect(message).toMatch(words)
    expect(message.endsWith(` (${reason})`)).toBe(true)
    // words of its own, not those that every refusal with this code has
    expect(hint).not.toBe(OPERATOR_REFUSALS[code].hint)
  },
)
