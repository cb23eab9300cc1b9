import { OperatorError } from '../errors.ts'
import type { Owner } from './owner.ts'

/** No database where one must be. `traces` is true when the directory shows that one was here. */
export function missing(dataDir: string, traces: 'traces' | 'none'): OperatorError {
  return traces === 'traces'
    ? new OperatorError(
        'store-missing',
        `${dataDir} held a store, but its database postern.db is gone`,
        'put postern.db back from a backup; only if its keys are lost for good, move store.json ' +
          'away, and a new key will be made and published at the next `postern run`',
      )
    : new OperatorError(
        'store-missing',
        `there is no store in ${dataDir}`,
        'check `dataDir`; the first `postern run` makes the store',
      )
}

/** Another process holds the store. */
export function inUse(dataDir: string, owner: Owner | null): OperatorError {
  const holder =
    owner === null
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, running since ${owner.startedAt}`
  return new OperatorError(
    'store-in-use',
    `${dataDir} is in use by ${holder}`,
    'stop that process first, or give this one a `dataDir` of its own',
  )
}

/** The passphrase is not the one that the store was made with. */
export function wrongPassphrase(): OperatorError {
  return new OperatorError(
    'store-locked',
    'the passphrase does not open the store',
    'give the passphrase that the store was made with, as `key.passphrase` ' +
      '(POSTERN_KEY_PASSPHRASE_FILE names a file that holds it)',
  )
}

/** The store has a passphrase and none was given. */
export function noPassphrase(): OperatorError {
  return new OperatorError(
    'store-locked',
    'the store is protected by a passphrase and none was given',
    'give it as `key.passphrase` (POSTERN_KEY_PASSPHRASE_FILE names a file that holds it)',
  )
}

/** The database cannot be believed. `what` says how that was seen. */
export function corrupt(what: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'store-corrupt',
    `the store is damaged: ${what}`,
    'nothing was changed; put postern.db back from a backup, and keep the damaged files ' +
      '(postern.db and postern.db-wal) until that has worked',
    cause === undefined ? {} : { cause },
  )
}

/** A later Postern wrote the store. */
export function newer(version: number, ours: number): OperatorError {
  return new OperatorError(
    'store-newer',
    `the store has version ${version}, and this Postern knows versions up to ${ours}`,
    'run the Postern that wrote it, or a later one',
  )
}

/** The directory cannot be written although it may be sound. `what` is a short reason. */
export function unwritable(dataDir: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'store-unwritable',
    `${dataDir} cannot be written: ${what}`,
    'free space on its disk, or mount it writable; nothing was lost',
    cause === undefined ? {} : { cause },
  )
}

/** The directory itself is unfit. */
export function unfit(message: string, hint: string): OperatorError {
  return new OperatorError('data-dir', message, hint)
}
