import { OperatorError, failedError, refusedError } from '../errors.ts'
import type { ExitCode } from '../operator-refusals.ts'
import { describeClosedFolder } from '../util/file-owners.ts'
import type { ProtectionMethod } from './schema.ts'

/** No database where one must be. `traces` is true when the directory shows that one was here. */
export const missing = (dataDir: string, traces: 'traces' | 'none'): OperatorError =>
  traces === 'traces'
    ? new OperatorError(
        'store-missing',
        `${dataDir} held a store, but its database postern.db is gone`,
        'move the folder aside and `postern backup restore` a backup; only if its keys are lost for ' +
          'good, move store.json away, and a new key will be made and published at the next `postern run`',
      )
    : new OperatorError(
        'store-missing',
        `there is no store in ${dataDir}`,
        'check `dataDir`; the first `postern run` makes the store',
      )

/** The passphrase is not the one that the store was made with. */
export const wrongPassphrase = (): OperatorError =>
  new OperatorError(
    'store-passphrase',
    'the passphrase does not open the store',
    'give the passphrase that the store was made with, or was last moved to, as `key.passphrase` ' +
      '(POSTERN_KEY_PASSPHRASE_FILE names a file that holds it)',
  )

/** The store has a passphrase and none was given. */
export const noPassphrase = (): OperatorError =>
  new OperatorError(
    'store-locked',
    'the store is protected by a passphrase and none was given',
    'give it as `key.passphrase` (POSTERN_KEY_PASSPHRASE_FILE names a file that holds it)',
  )

/** The store needs a command to be opened, and the settings name none. */
export const noWrapper = (): OperatorError =>
  new OperatorError(
    'store-locked',
    'the store rests under a secret that a command unwraps, and key.protection names none',
    'set key.protection to {exec: [...]}, with the command that the store was protected by',
  )

/** A command unwrapped another secret than the store's; no new start mends that. */
export const otherWrapped = (): OperatorError =>
  new OperatorError(
    'key-command',
    'the command of key.protection gave a secret that does not open the store',
    'nothing was changed; let the command use the service and the key that the store was protected by',
    { exitCode: 3 },
  )

const RESTS: Record<ProtectionMethod, string> = {
  passphrase: 'under a passphrase',
  keychain: 'under the OS keychain',
  exec: 'under a secret that a command unwraps',
  none: 'without protection',
}

/** This Node.js cannot compute Argon2id, by which the store derives its key. */
export const noArgon2 = (): OperatorError =>
  new OperatorError(
    'store-derivation',
    'the store’s key is derived from the passphrase by Argon2id, which this Node.js cannot compute',
    'run Postern with a Node.js built with OpenSSL 3.2 or later, as those of nodejs.org are',
  )

/** The store has one protection and the settings name another. It is never moved by itself. */
export const otherProtection = (is: ProtectionMethod, asked: ProtectionMethod): OperatorError =>
  new OperatorError(
    'protection',
    `the store rests ${RESTS[is]}, and key.protection is ${asked}`,
    `move it with \`postern key protect ${asked}\`, or set key.protection to ${
      is === 'exec' ? '{exec: [...]}' : is
    }`,
  )

/** The store rests without protection and no setting allows it. */
export const unprotected = (): OperatorError =>
  new OperatorError(
    'protection',
    'the store rests without protection: whoever reads the disk has the secret keys',
    'protect it with `postern key protect passphrase`, or say that you want it so: set ' +
      'key.protection to none',
  )

/** There is nothing that could protect secrets. `keychain`: why the keychain cannot. */
export function nothingPossible(
  keychain: OperatorError | null,
  howToMakePassphrase = 'give one as POSTERN_KEY_PASSPHRASE_FILE',
): OperatorError {
  const also = keychain === null ? '' : `; ${keychain.message}`
  return new OperatorError(
    'settings',
    'the settings are refused: key.passphrase: is required: the secret keys are never kept without ' +
      `protection unless you say so${also}`,
    howToMakePassphrase,
  )
}

/** The database is damaged. `what`: how that shows. */
export const corrupt = (what: string, cause?: unknown): OperatorError =>
  new OperatorError(
    'store-corrupt',
    `the store is damaged: ${what}`,
    'nothing was changed; move the folder aside, keep it, and `postern backup restore` a backup',
    { cause },
  )

/** A later Postern wrote the store. */
export const newer = (version: number, ours: number): OperatorError =>
  new OperatorError(
    'store-newer',
    `the store has version ${version}, and this Postern knows versions up to ${ours}`,
    'run the Postern that wrote it, or a later one',
  )

/** A version of Postern before 0.1.0 wrote the store. */
export const older = (version: number, first: number): OperatorError =>
  new OperatorError(
    'store-older',
    `the store has version ${version}, from before Postern 0.1.0, and this Postern knows versions from ${first}`,
    'nothing was changed; move the store aside and keep it, or name another `dataDir` or ' +
      '`store.schema`: the next `postern run` makes a new store with a new key',
  )

/**
 * The directory cannot be written although it may be sound: `data-dir` where this user has no right to.
 * @param what a short reason
 */
export function unwritable(dataDir: string, what: string, cause?: unknown): OperatorError {
  const closed = describeClosedFolder(dataDir)
  if (closed !== null) return new OperatorError('data-dir', closed.message, closed.hint, { cause })
  const hint = 'free space on its disk, or mount it writable; nothing was lost'
  return new OperatorError('store-unwritable', `${dataDir} cannot be written: ${what}`, hint, {
    cause,
  })
}

/** The disk failed while the protection was moved: the record may have reached it all the same. */
export const unsettledMove = (dataDir: string, cause: unknown): OperatorError =>
  new OperatorError(
    'store-unwritable',
    `${dataDir} cannot be written: the protection was not moved, as far as this disk can be believed`,
    'keep the old passphrase and the new one until the next start has opened the store; free space ' +
      'on its disk, or mount it writable',
    { cause },
  )

/** A file that is no backup, or is damaged. `what`: how that shows. */
export const unsoundBackup = (file: string, what: string, cause?: unknown): OperatorError =>
  failedError(
    `${file} is no sound backup: ${what}`,
    'nothing was changed; take another backup: `postern backup create` makes them, and `postern ' +
      'backup verify` looks into them',
    { cause },
  )

/** A backup may only go where nothing is. */
export const occupied = (dataDir: string): OperatorError =>
  refusedError(
    `${dataDir} holds a store, or held one, and nothing is restored over it`,
    `stop the sidecar and move it aside first: mv ${dataDir} ${dataDir}.aside`,
  )

/** The directory itself is unfit. */
export const unfit = (message: string, hint: string, exitCode?: ExitCode): OperatorError =>
  new OperatorError('data-dir', message, hint, { exitCode })
