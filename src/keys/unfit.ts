/** Refusals of a secret key that cannot be the bot's, for operators. */
import { OperatorError } from '../errors.ts'
import type { UnfitReason } from '../openpgp/index.ts'

const AGAIN = 'export one whole secret key: `gpg --armor --export-secret-keys FINGERPRINT`'
const ANOTHER =
  'make another: `postern key generate`, or `gpg --quick-generate-key "bot" ed25519 default never` ' +
  'with an encryption subkey'

const SIGN_ANEW =
  'sign that anew with the same key: `gpg --cert-digest-algo SHA512 --quick-set-expire FINGERPRINT never`, and export it again'

const WORDS: Record<UnfitReason, { is: string; hint: string }> = {
  unparseable: { is: 'it is not one OpenPGP secret key, armored or binary', hint: AGAIN },
  'public-only': { is: 'it holds a public key alone', hint: AGAIN },
  'several-keys': { is: 'it holds several keys', hint: AGAIN },
  'subkeys-only': { is: 'it holds the secret subkeys alone, without the primary key', hint: AGAIN },
  stub: {
    is: 'a secret part of it is not in this export',
    hint: `${AGAIN}, where all of its secret parts are`,
  },
  smartcard: {
    is: 'its secret part is on a smartcard',
    hint: `a card’s key cannot be exported; ${ANOTHER}`,
  },
  'unusual-s2k': {
    is: 'it is locked in a way that Postern does not read',
    hint: 'import it into gpg and export it from there: gpg locks with an iterated and salted hash',
  },
  'passphrase-missing': {
    is: 'it has a passphrase',
    hint: 'give it as POSTERN_KEY_FILE_PASSPHRASE, or name its file in POSTERN_KEY_FILE_PASSPHRASE_FILE',
  },
  'passphrase-wrong': {
    is: 'the passphrase does not open it',
    hint: 'give the passphrase that it was exported under, as POSTERN_KEY_FILE_PASSPHRASE (or _FILE)',
  },
  inconsistent: {
    is: 'its secret and public parts do not belong together',
    hint: 'the file was changed or damaged: export the key again, and ask who could write the file',
  },
  version: { is: 'it is not a version 4 key, and phones read no other', hint: ANOTHER },
  'newer-algorithm': {
    is: 'it has an algorithm that many programs do not read in a version 4 key',
    hint: ANOTHER,
  },
  'weak-algorithm': { is: 'its algorithm is too weak', hint: ANOTHER },
  'too-large-to-seal': { is: 'it is RSA of more than 4096 bits', hint: ANOTHER },
  'weak-hash': { is: 'what it states of itself is signed over SHA-1 or less', hint: SIGN_ANEW },
  'no-user-id': { is: 'its own key certifies no user id of it', hint: AGAIN },
  'unsupported-curve': {
    is: 'it is on a curve that Postern neither signs nor opens with (Brainpool, secp256k1, Ed448)',
    hint: ANOTHER,
  },
  revoked: { is: 'it is revoked', hint: ANOTHER },
  expired: {
    is: 'it has expired',
    hint: 'give it another expiry: `gpg --quick-set-expire FINGERPRINT never`, for its subkeys too, and export it again; `--retired` takes it in for opening alone',
  },
  'not-yet-valid': {
    is: 'it is dated in the future',
    hint: 'set this machine’s clock, or wait until the key is valid',
  },
  'no-encryption-subkey': {
    is: 'it has no subkey that one can encrypt to',
    hint: 'add one: `gpg --quick-add-key FINGERPRINT cv25519 encrypt never`, and export it again',
  },
  'no-signing-key': { is: 'it has no key that can sign', hint: ANOTHER },
  'not-working': { is: 'what was sealed with it did not open and verify', hint: ANOTHER },
  'too-large': {
    is: 'it is larger than the service takes (65,536 characters)',
    hint: 'leave out photos and the signatures of others: `gpg --export-options export-minimal`',
  },
}

/** The refusal for a key that cannot be imported. */
export function unfitKey(reason: UnfitReason): OperatorError {
  const { is, hint } = WORDS[reason]
  const isPassphrase = reason === 'passphrase-missing' || reason === 'passphrase-wrong'
  return new OperatorError(
    isPassphrase ? 'passphrase' : 'refused',
    `the key cannot be the bot’s: ${is} (${reason})`,
    hint,
  )
}
