/** Refusals of the keyring to accept a key, or to open. */
import { OperatorError, refusedError } from '../errors.ts'

export function tooMany(open: number): OperatorError {
  return refusedError(
    `${open} keys are open already, and no more may be`,
    'lower key.retainDays, rotate less often, or delete old ones with `postern key delete`',
  )
}

export function otherPending(fingerprint: string): OperatorError {
  return refusedError(
    `another key waits for its publication: ${fingerprint}`,
    'let `postern run` or `postern key publish` finish it first',
  )
}

export function nothingToLockUnder(): OperatorError {
  return new OperatorError(
    'store-locked',
    'there is nothing to lock a new key under',
    'set key.passphrase (POSTERN_KEY_PASSPHRASE_FILE)',
  )
}

export function doesNotOpen(cause: unknown): OperatorError {
  return new OperatorError(
    'store-locked',
    'a secret key in the store does not open with this passphrase',
    'give the passphrase that the store was made with; nothing was changed',
    { cause },
  )
}

export function exchanged(fingerprint: string): OperatorError {
  return new OperatorError(
    'store-corrupt',
    `the store is damaged: what it keeps as ${fingerprint} is another key`,
    'nothing was changed; move the folder aside, keep it, and `postern backup restore` a backup',
  )
}
