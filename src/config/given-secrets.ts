/** Which settings are secrets, and what the sources give for them. */
import type { CollectedSettings } from './collect.ts'
import { operatorErrorOf } from '../errors.ts'
import { describeSecretFile } from './files.ts'
import type { Problem } from './problems.ts'
import { SecretSource, type SecretRule } from './secrets.ts'
import type { Sources } from './sources.ts'

const RULES: Readonly<Record<string, SecretRule>> = {
  'bot.token': 'token',
  'bot.clientToken': 'token',
  'key.passphrase': 'passphrase',
  'key.agentPin': 'passphrase',
  'alert.url': 'url',
  'store.url': 'database',
}

/** Settings that are secrets, by dotted path. */
export const SECRETS: readonly string[] = Object.keys(RULES)

/**
 * Reads a secret from the source that counts most, itself or its file.
 * @param path one of `SECRETS`
 * @param o `problems` receives the problems
 * @returns the secret, null when it was refused, and where it, or its file, is named; null when no
 *   source gives it
 */
export function readGivenSecret(
  path: string,
  { levels, values }: CollectedSettings,
  { problems, sources }: { problems: Problem[]; sources: Sources },
): { place: string; secret: SecretSource | null } | null {
  const level = levels.find((one) => one.has(path) || one.has(`${path}File`))
  const value = level?.get(path)
  const file = level?.get(`${path}File`)
  const given = file ?? value
  if (given === undefined) return null
  const { place } = given
  const refuse = (message: string) => {
    problems.push({ place, path, message })
    return { place, secret: null }
  }
  if (file !== undefined && value !== undefined) {
    refuse(`expected the secret or its file, not both (${value.place} is set too)`)
  }
  const checked = values.get(`${path}File`)
  // A path that was refused is a problem already.
  if (file !== undefined && checked === undefined) return { place, secret: null }
  if (file === undefined && typeof given.value !== 'string') return refuse('expected text')
  const rule = RULES[path] ?? 'token'
  const secret = operatorErrorOf(() =>
    file === undefined
      ? SecretSource.fromValue(String(given.value), rule)
      : sources.secretReader.read(String(checked?.value), rule),
  )
  if (secret instanceof SecretSource) return { place, secret }
  const { message } = secret
  return refuse(
    file === undefined ? message : describeSecretFile(message, String(file.value), sources.cwd),
  )
}
