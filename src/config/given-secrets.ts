/** Which settings are secrets, and what the sources give for them. */
import type { CollectedSettings, SettingsLevel } from './collect.ts'
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
  collected: CollectedSettings,
  o: { problems: Problem[]; sources: Sources },
) {
  const found = findSecret(path, collected.levels, o.problems)
  return found === null ? null : { place: found.place, secret: readSecret(found, collected, o) }
}

/** The level that counts most and gives the secret or its file; both in one level are refused. */
function findSecret(path: string, levels: readonly SettingsLevel[], problems: Problem[]) {
  for (const level of levels) {
    const value = level.get(path)
    const file = level.get(`${path}File`)
    if (value !== undefined && file !== undefined) {
      const message = `expected the secret or its file, not both (${value.place} is set too)`
      problems.push({ place: file.place, path, message })
    }
    // Whether its file is named, not the secret itself.
    if (file !== undefined) return { path, named: true, ...file }
    if (value !== undefined) return { path, named: false, ...value }
  }
  return null
}

function readSecret(
  { path, place, named, value }: NonNullable<ReturnType<typeof findSecret>>,
  { values }: CollectedSettings,
  { problems, sources }: { problems: Problem[]; sources: Sources },
): SecretSource | null {
  const rule = RULES[path] ?? 'token'
  const file = values.get(`${path}File`)
  // A path that was refused is a problem already.
  if (named && file === undefined) return null
  if (!named && typeof value !== 'string') {
    problems.push({ place, path, message: 'expected text' })
    return null
  }
  const secret = operatorErrorOf(() =>
    named
      ? sources.secretReader.read(String(file?.value), rule)
      : SecretSource.fromValue(String(value), rule),
  )
  if (secret instanceof SecretSource) return secret
  const message = named
    ? describeSecretFile(secret.message, String(value), sources.cwd)
    : secret.message
  problems.push({ place, path, message })
  return null
}
