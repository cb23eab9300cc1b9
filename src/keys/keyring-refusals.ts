/** Refusals of the keyring to accept a key, or to open. */
import { failedError, OperatorError, refusedError } from '../errors.ts'
import type { KeyHolderUnavailableError } from '../errors.ts'

export const tooMany = (open: number): OperatorError =>
  refusedError(
    `${open} keys are open already, and no more may be`,
    'lower key.retainDays, rotate less often, or delete old ones with `postern key delete`',
  )

export const otherPending = (fingerprint: string): OperatorError =>
  refusedError(
    `another key waits for its publication: ${fingerprint}`,
    'let `postern run` or `postern key publish` finish it first',
  )

export const nothingToLockUnder = (): OperatorError =>
  new OperatorError(
    'store-locked',
    'there is nothing to lock a new key under',
    'set key.passphrase (POSTERN_KEY_PASSPHRASE_FILE)',
  )

export const doesNotOpen = (cause: unknown): OperatorError =>
  new OperatorError(
    'store-locked',
    'a secret key in the store does not open with this passphrase',
    'give the passphrase that the store was made with; nothing was changed',
    { cause },
  )

/** Another try may help: a holder can start at any time. */
export const holderAway = ({ detail }: KeyHolderUnavailableError): OperatorError =>
  failedError(
    `a key in the store cannot be used: ${detail}`,
    'start the agent of key.agent, and give it the key if it has none; nothing was changed',
  )

export const exchanged = (fingerprint: string): OperatorError =>
  new OperatorError(
    'store-corrupt',
    `the store is damaged: what it keeps as ${fingerprint} is another key`,
    'nothing was changed; move the folder aside, keep it, and `postern backup restore` a backup',
  )
