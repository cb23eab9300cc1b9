import type { Skipped } from '../../kernel/index.ts'

const NEW_KEY = 'the person must publish a key that their app makes anew'
const OTHER_APP =
  'the person’s app publishes what it should not: they update it, or publish from another'
const DECIDE = 'compare fingerprints with the person, then `postern trust accept` or `trust verify`'

/**
 * Why somebody gets no message of the bot's, in `postern.skipped`, in refusals, in the log and in
 * `postern explain --sent`. The compiler asks for each; the table in this folder's README is made
 * from it.
 */
export const SKIP_REASONS: Readonly<Record<Skipped['reason'], { what: string; hint: string }>> = {
  unparseable: { what: 'what is listed for them is no OpenPGP certificate', hint: NEW_KEY },
  'secret-key': {
    what: 'a secret key is listed for them, which is secret no more',
    hint: `tell them that it must not be used again; ${NEW_KEY}`,
  },
  'several-certificates': { what: 'several certificates are listed as one', hint: OTHER_APP },
  version: { what: 'their certificate is of a version other than 4', hint: NEW_KEY },
  revoked: { what: 'their certificate is revoked', hint: NEW_KEY },
  expired: {
    what: 'their certificate has expired',
    hint: 'the person must extend its validity and publish it again, or publish a new one',
  },
  'not-yet-valid': {
    what: 'their certificate is dated in the future',
    hint: 'set this machine’s clock; if it is right, the person’s device has a wrong one',
  },
  'no-encryption-subkey': {
    what: 'their certificate has no key that one can encrypt to',
    hint: NEW_KEY,
  },
  'weak-algorithm': {
    what: 'their key’s algorithm is too weak (RSA below 2048 bits, DSA, ElGamal, secp256k1)',
    hint: NEW_KEY,
  },
  'weak-hash': {
    what: 'what their certificate states of itself is signed over SHA-1 or less',
    hint: 'the person signs that anew with the same key (`gpg --cert-digest-algo SHA512 --quick-set-expire FINGERPRINT never`) and publishes it again',
  },
  'no-user-id': {
    what: 'their certificate has no user id that its own key certifies, and says nothing without one',
    hint: 'the person must publish it whole, with their name',
  },
  'too-large-to-seal': {
    what: 'their key is RSA of more than 4096 bits',
    hint: 'the person adds a subkey that is smaller (`gpg --quick-add-key FINGERPRINT cv25519 encrypt never`) and publishes the certificate again',
  },
  'too-large': {
    what: 'their certificate is larger than is read',
    hint: 'the person must publish it without photos and others’ signatures',
  },
  deadline: {
    what: 'reading their certificate took longer than is waited for',
    hint: 'it is tried again; if it stays so, the person must publish another key',
  },
  'fingerprint-mismatch': {
    what: 'the service names another fingerprint than their certificate has',
    hint: 'tell whoever runs the service; nothing is sealed to a certificate that may be another’s',
  },
  'not-remembered': {
    what: 'no more people can be remembered, so a changed certificate would go unnoticed',
    hint: '`postern status` says how many are known; a service that invents people is not to be trusted',
  },
  blocked: {
    what: 'you blocked them',
    hint: 'nothing; `postern trust accept` or `trust verify` ends it',
  },
  'key-changed': { what: 'their certificate is another than before', hint: DECIDE },
  'not-accepted': { what: 'the policy is `pinned`, and you have not accepted them', hint: DECIDE },
  'own-key': {
    what: 'a key of the bot’s is listed as theirs',
    hint: 'the person must publish a key of their own',
  },
  'other-person': {
    what: 'the certificate listed for them is another person’s, as you said',
    hint: '`postern trust list` shows whose it is; the person must publish a key of their own',
  },
}

/** @returns null for a reason of another version */
export const describeSkip = (reason: string): { what: string; hint: string } | null =>
  Object.hasOwn(SKIP_REASONS, reason) ? SKIP_REASONS[reason as Skipped['reason']] : null
