/** What counts for one bot: the only one, or one of several. */
import type { CollectedSettings } from './collect.ts'
import { readGivenSecret, SECRETS } from './given-secrets.ts'
import { nothingSetError, type Problem } from './problems.ts'
import { applyRules, passphraseCommands } from './rules.ts'
import { SecretSource } from './secrets.ts'
import { settingsFrom, type ProxySettings, type Secrets } from './settings.ts'
import type { Sources } from './sources.ts'
import { readTraces } from './traces.ts'

/** Settings, secrets, and the origin of each. */
export type Loaded = NonNullable<ReturnType<typeof readOne>>

/** What the local bot presents. */
export const presentedToken = ({ clientToken, botToken }: Secrets): SecretSource =>
  clientToken ?? botToken

/**
 * Reads all that is of one bot.
 * @param o `problems` receives the problems
 * @returns null when the token is missing or anything else is wrong
 */
export function readOne(
  collected: CollectedSettings,
  o: { sources: Sources; problems: Problem[]; isOneOfSeveral: boolean },
) {
  const { sources, problems, isOneOfSeveral } = o
  const before = problems.length
  const secrets = new Map<string, SecretSource>()
  const origins = originsOf(collected)
  const given = new Set<string>()
  for (const path of SECRETS) {
    const found = readGivenSecret(path, collected, { problems, sources })
    if (found === null) continue
    given.add(path)
    origins.set(path, found.place)
    if (found.secret !== null) secrets.set(path, found.secret)
  }
  // What cannot be read may hold what seems to be missing.
  const broken = new Set([...collected.problems, ...problems].map(({ path }) => path))
  const broke = applyRules({ ...collected, secrets: given, sources, isOneOfSeveral })
  problems.push(
    ...broke.filter((p) => p.place !== '' || (collected.complete && !broken.has(p.path))),
  )
  const isAnythingSet = collected.levels.some((level) => level.size > 0)
  if (!isAnythingSet && !isOneOfSeveral && collected.problems.length === 0)
    throw nothingSetError(problems)
  const token = secrets.get('bot.token')
  if (problems.length > before || token === undefined || collected.problems.length > 0) return null
  const { target, headers } = readTraces(sources.env)
  const held: Secrets = {
    botToken: token,
    clientToken: secrets.get('bot.clientToken') ?? null,
    passphrase: secrets.get('key.passphrase') ?? null,
    agentPin: secrets.get('key.agentPin'),
    storeUrl: secrets.get('store.url'),
    alertUrl: secrets.get('alert.url'),
    traceHeaders: headers === undefined ? undefined : SecretSource.fromValue(headers.trim()),
    howToMakePassphrase: passphraseCommands(collected.dataDir, sources),
  }
  return {
    settings: settingsFrom(nest(collected), {
      proxy: readProxies(sources),
      pretty: sources.terminal,
      traces: target,
    }),
    secrets: held,
    /** By dotted path: file and line, variable or flag. A setting without one has its default. */
    origins,
    /** Files that secrets were read from, absolute, by the dotted path of the setting that names them. */
    secretFiles: new Map(
      [...secrets].flatMap(([path, { file }]) => (file === null ? [] : [[`${path}File`, file]])),
    ),
  }
}

/** The origin of each value, by dotted path. */
export const originsOf = ({ values }: CollectedSettings): Map<string, string> =>
  new Map([...values].map(([path, { place }]) => [path, place]))

/** Nests values by their dotted paths into the object that the schema parses. */
export function nest({ values, dataDir }: CollectedSettings): Parameters<typeof settingsFrom>[0] {
  const root: Record<string, unknown> = {}
  for (const [path, { value }] of values) {
    const parts = path.split('.')
    const name = parts.pop() ?? ''
    let group = root
    for (const part of parts) group = (group[part] ??= {}) as Record<string, unknown>
    group[name] = value
  }
  return { ...root, dataDir } as Parameters<typeof settingsFrom>[0]
}

function readProxies({ env }: Sources): ProxySettings {
  const read = (name: string) => env[name.toLowerCase()] ?? env[name]
  const [httpsProxy, httpProxy, noProxy] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(read)
  return {
    ...(httpsProxy && { httpsProxy }),
    ...(httpProxy && { httpProxy }),
    ...(noProxy && { noProxy }),
  }
}
