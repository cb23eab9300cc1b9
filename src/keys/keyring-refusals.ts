/** Why the keyring takes no key. */
import { OperatorError } from '../errors.ts'

export function tooMany(open: number): OperatorError {
  return new OperatorError(
    'refused',
    `${open} keys are open already, and no more may be`,
    'lower key.retainDays, rotate less often, or postern key delete old ones',
  )
}

export function nothingToLockUnder(): OperatorError {
  return new OperatorError(
    'store-locked',
    'there is nothing to lock a new key under',
    'set key.passphrase (POSTERN_KEY_PASSPHRASE_FILE)',
  )
}
