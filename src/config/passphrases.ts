/** Secrets of single commands, beside the settings. */
import { resolve } from 'node:path'
import { describeSecretFile } from './files.ts'
import { settingsError } from './problems.ts'
import { SecretSource } from './secrets.ts'
import { operatorErrorOf, type OperatorError } from '../errors.ts'

/** Their names in the environment; each can be given as a file by adding `_FILE`. */
export const PASSPHRASES = {
  /** What an exported key is locked under. */
  export: 'POSTERN_EXPORT_PASSPHRASE',
  /** What the key in a file that is imported is locked under; `export` counts where it is absent. */
  keyFile: 'POSTERN_KEY_FILE_PASSPHRASE',
  /** What a store is moved under. */
  new: 'POSTERN_NEW_PASSPHRASE',
  /** The database that a store is moved into. */
  storeUrl: 'POSTERN_NEW_STORE_URL',
} as const

/** Every variable that holds such a secret or names its file. */
export const PASSPHRASE_VARIABLES = Object.values(PASSPHRASES).flatMap((name) => [
  name,
  `${name}_FILE`,
])

/**
 * Reads the secret of a command.
 * @param sources `cwd` is what a relative file name starts from
 * @returns null when it is not given
 * @throws OperatorError `settings` when it is given twice, cannot be read, or is none of its kind
 */
export function commandSecret(
  which: keyof typeof PASSPHRASES,
  { env, cwd }: { env: Readonly<Record<string, string>>; cwd: string },
): SecretSource | null {
  const name = PASSPHRASES[which]
  const rule = which === 'storeUrl' ? 'database' : 'passphrase'
  const value = env[name]
  const file = env[`${name}_FILE`]
  if (value === undefined && file === undefined) return null
  const place = file === undefined ? name : `${name}_FILE`
  const refuse = (message: string): OperatorError => {
    const hint = 'give the secret alone, in a file of mode 0600'
    return settingsError([{ place, path: '', message, hint }])
  }
  if (value !== undefined && file !== undefined) {
    throw refuse('expected the secret or its file, not both')
  }
  const secret = operatorErrorOf(() =>
    file === undefined
      ? SecretSource.fromValue(value ?? '', rule)
      : SecretSource.fromFile(resolve(cwd, file), rule),
  )
  if (secret instanceof SecretSource) return secret
  throw refuse(file === undefined ? secret.message : describeSecretFile(secret.message, file, cwd))
}
