/**
 * Loads the settings: flags over environment over file over defaults. Gives values, has no effect.
 */
import { collect } from './collect.ts'
import type { CollectedSettings, SettingsLevel } from './collect.ts'
import { OperatorError } from '../errors.ts'
import { settingsError } from './problems.ts'
import type { Problem } from './problems.ts'
import { applyRules, passphraseCommands } from './rules.ts'
import { SecretSource } from './secrets.ts'
import type { SecretRule } from './secrets.ts'
import { presetOf, settingsFrom } from './settings.ts'
import type { ProxySettings, Secrets, Settings } from './settings.ts'
import type { Sources } from './sources.ts'

/** Settings, secrets, and where each came from. */
export interface Loaded {
  settings: Settings
  secrets: Secrets
  /** By dotted path: file and line, variable or flag. What is not in it is a default. */
  origins: ReadonlyMap<string, string>
}

const RULES: Readonly<Record<string, SecretRule>> = {
  'bot.token': 'token',
  'bot.clientToken': 'token',
  'key.passphrase': 'passphrase',
  'alert.url': 'url',
}

/**
 * Loads everything that `run` needs.
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export function load(sources: Sources): Loaded {
  const collected = collect(sources)
  const problems = [...collected.problems]
  const secrets = new Map<string, SecretSource>()
  const origins = new Map([...collected.values].map(([path, { place }]) => [path, place]))
  const given = new Set<string>()
  for (const path of Object.keys(RULES)) {
    const found = findSecret(path, collected.levels, problems)
    if (found === null) continue
    given.add(path)
    origins.set(path, found.place)
    const secret = readSecret(found, collected, problems)
    if (secret !== null) secrets.set(path, secret)
  }
  // What cannot be read may hold what seems to be missing.
  const broken = new Set(problems.map(({ path }) => path))
  const rules = applyRules({
    values: collected.values,
    secrets: given,
    dataDir: collected.dataDir,
    sources,
  })
  problems.push(
    ...rules.filter((p) => p.place !== '' || (collected.complete && !broken.has(p.path))),
  )
  const token = secrets.get('bot.token')
  const alertUrl = secrets.get('alert.url')
  if (problems.length > 0 || token === undefined) throw settingsError(problems)
  return {
    settings: settingsFrom(nest(collected), {
      proxy: readProxies(sources),
      pretty: sources.terminal,
    }),
    secrets: {
      botToken: token,
      clientToken: secrets.get('bot.clientToken') ?? null,
      passphrase: secrets.get('key.passphrase') ?? null,
      ...(alertUrl !== undefined && { alertUrl }),
      howToMakePassphrase: passphraseCommands({ dataDir: collected.dataDir, sources }),
    },
    origins,
  }
}

/**
 * Finds out where a running sidecar would be, for commands that talk to it; whether the rest of
 * the settings would do for a start is not asked.
 * @returns `dataDir`, absolute
 * @throws OperatorError `settings` when any source holds something wrong or unknown
 */
export function loadDataDir(sources: Sources): string {
  const { dataDir, problems } = collect(sources)
  if (problems.length > 0) throw settingsError(problems)
  return dataDir
}

/** What opens a store, or a copy of one. */
export interface StoreAccess {
  /** Absolute. */
  dataDir: string
  protection: Settings['key']['protection']
  passphrase: SecretSource | null
}

/**
 * Loads what commands need that open a store and never reach the service.
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export function loadStoreAccess(sources: Sources): StoreAccess {
  const collected = collect(sources)
  const { dataDir, values, levels, problems } = collected
  const found = findSecret('key.passphrase', levels, problems)
  const passphrase = found === null ? null : readSecret(found, collected, problems)
  if (problems.length > 0) throw settingsError(problems)
  const protection = values.get('key.protection')?.value ?? presetOf('key.protection')
  return { dataDir, passphrase, protection: protection as StoreAccess['protection'] }
}

interface FoundSecret {
  path: string
  place: string
  /** Whether its file was named, not the secret itself. */
  named: boolean
  value: unknown
}

/** The level that counts most and gives the secret or its file; both in one level are refused. */
function findSecret(
  path: string,
  levels: readonly SettingsLevel[],
  problems: Problem[],
): FoundSecret | null {
  for (const level of levels) {
    const value = level.get(path)
    const file = level.get(`${path}File`)
    if (value !== undefined && file !== undefined) {
      const message = `expected the secret or its file, not both (${value.place} is set too)`
      problems.push({ place: file.place, path, message })
    }
    if (file !== undefined) return { path, named: true, ...file }
    if (value !== undefined) return { path, named: false, ...value }
  }
  return null
}

function readSecret(
  found: FoundSecret,
  { values }: CollectedSettings,
  problems: Problem[],
): SecretSource | null {
  const { path, place } = found
  const rule = RULES[path] ?? 'token'
  try {
    if (!found.named && typeof found.value === 'string') {
      return SecretSource.fromValue(found.value, rule)
    }
    const file = values.get(`${path}File`)
    // A path that was refused is a problem already.
    if (found.named)
      return file === undefined ? null : SecretSource.fromFile(String(file.value), rule)
    problems.push({ place, path, message: 'expected text' })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    problems.push({ place, path, message: error.message })
  }
  return null
}

/** The values by their dotted paths as the object that the schema takes. */
function nest({ values, dataDir }: CollectedSettings): Parameters<typeof settingsFrom>[0] {
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
