/** The answers that `postern init` needs, from flags, environment or a person, and their checks. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { collect, describeExpected, type CollectedSettings } from '../config/collect.ts'
import { settingsError } from '../config/problems.ts'
import { isInside, PLAIN_HTTP, secretsFolder } from '../config/rules.ts'
import { SecretSource } from '../config/secrets.ts'
import { SETTINGS } from '../config/settings.ts'
import type { Sources } from '../config/sources.ts'
import { isPlainHttp } from '../config/urls.ts'
import { OperatorError, operatorErrorOf, refusedError, usageError } from '../errors.ts'

/** Everything that is to be written, as far as it is known. Paths absolute. */
export interface Answers {
  /** The content of the settings file, by dotted path. */
  values: Map<string, unknown>
  /** The file that is to be made with a new passphrase, or null. */
  newPassphrase: string | null
  /** The file that is to be made with a token that was typed, or null. */
  newToken: { file: string; token: string } | null
  dataDir: string
  /** The questions that are left, each with the flags that answer it. */
  missing: Map<InitQuestion, string>
}

type InitQuestion = 'service' | 'token' | 'publish' | 'protection' | 'dataDir'

/**
 * Reads what flags and environment have answered already. What the environment gives is not asked for, and not written.
 * @throws OperatorError `settings` for every wrong value; `refused` when a passphrase file is to be
 *   made where something is, or inside the data folder
 */
export function givenAnswers(sources: Sources, o: { makePassphrase: boolean }): Answers {
  const collected = collect(sources, null)
  const { values, dataDir, problems } = collected
  if (problems.length > 0) throw settingsError(problems)
  const named = values.get('key.passphraseFile')?.value
  const file = typeof named === 'string' ? named : defaultFile('passphrase', dataDir, sources)
  if (o.makePassphrase) {
    refuseOther(collected)
    const problem = describeFile(file, dataDir)
    if (problem !== null) throw refusedError(`${file} ${problem.message}`, problem.hint)
  }
  const written = [...values].filter(([, { place }]) => place.startsWith('--'))
  const given: Answers = {
    values: new Map(written.map(([path, { value }]) => [path, value])),
    newPassphrase: o.makePassphrase ? file : null,
    newToken: null,
    dataDir,
    missing: missing(collected, o),
  }
  if (o.makePassphrase) given.values.set('key.passphraseFile', file)
  return given
}

const isOtherThanPassphrase = (protection: unknown): boolean =>
  ![undefined, 'auto', 'passphrase'].includes(protection as string)

/** A new passphrase that another setting overrides would lock the operator out. */
function refuseOther({ values, levels }: CollectedSettings): void {
  const passphrases = [
    ...levels.map((level) => level.get('key.passphrase')),
    values.get('key.passphraseFile'),
    values.get('key.passphraseCommand'),
  ]
  const other = passphrases.find((given) => given !== undefined && !given.place.startsWith('--'))
  const protection = values.get('key.protection')
  const isOther = protection !== undefined && isOtherThanPassphrase(protection.value)
  const place = other?.place ?? (isOther ? protection.place : null)
  if (place === null) return
  const message = `--make-passphrase contradicts ${place}`
  throw usageError(message, 'leave out one of the two')
}

function missing(
  { values, levels }: CollectedSettings,
  { makePassphrase }: { makePassphrase: boolean },
): Answers['missing'] {
  const has = (...paths: string[]): boolean =>
    levels.some((level) => paths.some((path) => level.has(path)))
  const chosen = values.get('key.protection')?.value
  const isProtected =
    makePassphrase ||
    has('key.passphrase', 'key.passphraseFile', 'key.passphraseCommand') ||
    isOtherThanPassphrase(chosen) ||
    values.get('key.publish')?.value === false
  const left = new Map<InitQuestion, string>()
  if (!has('upstream.url')) left.set('service', '--upstream-url')
  if (!has('bot.token', 'bot.tokenFile')) left.set('token', '--bot-token-file')
  if (!has('key.publish')) left.set('publish', '--key-publish')
  if (!isProtected) {
    left.set('protection', '--make-passphrase, --key-passphrase-file or --key-protection')
  }
  if (!has('dataDir')) left.set('dataDir', '--data-dir')
  return left
}

/** Where a secret of ours is stored by default. */
export const defaultFile = (name: string, dataDir: string, sources: Sources): string =>
  resolve(secretsFolder(dataDir, sources), name)

/** Why no file with a secret is to be made there, or null. */
export function describeFile(file: string, dataDir: string) {
  if (isInside(file, dataDir)) {
    return {
      message: 'lies inside the data folder, and a copy of that would open itself',
      hint: 'name a file elsewhere with --key-passphrase-file, or another folder with --data-dir',
    }
  }
  if (!existsSync(file)) return null
  return {
    message: 'is there already, and nothing is written over it',
    hint: 'to use what is in it, name it with --key-passphrase-file and leave out --make-passphrase; or name a file that is not there',
  }
}

/** The problem of a setting's text, or null. */
export function describeValue(path: string, text: string): string | null {
  const setting = SETTINGS.find((one) => one.path === path)
  const parsed = setting?.schema.safeParse(text)
  if (setting !== undefined && parsed?.success === false) {
    return describeExpected(setting, parsed.error)
  }
  return path === 'upstream.url' && isPlainHttp(text) ? PLAIN_HTTP : null
}

/** The problem of a secret, or of the file for it, or null. */
export function describeSecret(
  secret: { file: string } | { value: string },
  rule: 'token' | 'passphrase',
): string | null {
  const read = operatorErrorOf(() =>
    'file' in secret
      ? SecretSource.fromFile(secret.file, rule)
      : SecretSource.fromValue(secret.value, rule),
  )
  return read instanceof OperatorError ? read.message : null
}
