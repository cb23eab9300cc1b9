/**
 * Loads the settings: flags over environment over file over defaults. Gives values, has no effect.
 */
import { onlyBot, whichBot } from './bot-names.ts'
import { findBots, type SeveralBots } from './bots.ts'
import { collect } from './collect.ts'
import type { CollectedSettings, SettingsLevel } from './collect.ts'
import { botIdOf } from '../api/token.ts'
import { OperatorError } from '../errors.ts'
import { describeSecretFile } from './files.ts'
import { nothingSetError, settingsError } from './problems.ts'
import type { Problem } from './problems.ts'
import { applyBotRules, applyProcessRules, applyRules, passphraseCommands } from './rules.ts'
import { SecretSource } from './secrets.ts'
import type { SecretRule } from './secrets.ts'
import { presetOf, processSettingsFrom, settingsFrom } from './settings.ts'
import type { ProcessSettings, ProxySettings, Secrets, Settings } from './settings.ts'
import type { Sources } from './sources.ts'

/** Settings, secrets, and where each came from. */
export interface Loaded {
  settings: Settings
  secrets: Secrets
  /** By dotted path: file and line, variable or flag. What is not in it is a default. */
  origins: ReadonlyMap<string, string>
  /** Files that secrets were read from, absolute, by the dotted path of the setting that names them. */
  secretFiles: ReadonlyMap<string, string>
}

const RULES: Readonly<Record<string, SecretRule>> = {
  'bot.token': 'token',
  'bot.clientToken': 'token',
  'key.passphrase': 'passphrase',
  'alert.url': 'url',
  'store.url': 'database',
}

/** One of several bots. */
export interface LoadedBot extends Loaded {
  name: string
}

/** Several bots, and what they have in common. */
export interface LoadedBots {
  settings: ProcessSettings
  secrets: Pick<Secrets, 'alertUrl' | 'storeUrl'>
  origins: ReadonlyMap<string, string>
  bots: LoadedBot[]
  /** Where each has a file, absolute; null where they are listed in the settings file. */
  folder: string | null
}

/**
 * Loads everything that `run` needs.
 * @returns the settings of the one bot, or of several
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export function loadAll(sources: Sources): { one: Loaded } | { several: LoadedBots } {
  const collected = collect(sources)
  const found = findBots(collected, sources)
  return found === null
    ? { one: loadOne(collected, sources) }
    : { several: readSeveral(collected, found, sources) }
}

/**
 * Loads the settings of several bots again.
 * @throws OperatorError `settings`, also when they are of one bot now
 */
export function loadSeveral(sources: Sources): LoadedBots {
  const loaded = loadAll(sources)
  if ('several' in loaded) return loaded.several
  const message = 'is gone, and one bot takes a restart'
  throw settingsError([{ place: '', path: 'bots', message }])
}

/**
 * Loads the settings of one bot: of the only one, or of the one of several that `sources.bot` names.
 * @throws OperatorError `settings`, with every problem of every source at once; `usage` when no bot
 *   is of that name, or none is named and there are several
 */
export function load(sources: Sources): Loaded {
  const loaded = loadAll(sources)
  if ('one' in loaded) {
    if (sources.bot !== null) throw onlyBot()
    return loaded.one
  }
  const { bots } = loaded.several
  const names = bots.map(({ name }) => name)
  const bot = bots.find(({ name }) => name === sources.bot)
  if (bot === undefined) throw whichBot(sources.bot, names)
  return bot
}

function loadOne(collected: CollectedSettings, sources: Sources): Loaded {
  const problems = [...collected.problems]
  const loaded = readOne(collected, { sources, problems, rules: applyRules })
  if (problems.length > 0 || loaded === null) throw settingsError(problems)
  return loaded
}

function readSeveral(
  collected: CollectedSettings,
  { folder, bots, problems: found }: SeveralBots,
  sources: Sources,
): LoadedBots {
  const problems = [...collected.problems, ...found]
  const given = new Set<string>()
  const [alertUrl, storeUrl] = ['alert.url', 'store.url'].map((path) => {
    const secret = findSecret(path, collected.levels, problems)
    if (secret === null) return undefined
    given.add(path)
    return readSecret(secret, collected, { problems, cwd: sources.cwd }) ?? undefined
  })
  problems.push(...applyProcessRules({ ...collected, secrets: given, sources }))
  const loaded = bots.map(({ name, place, collected: own }): LoadedBot | null => {
    const wrong = [...own.problems]
    const one = readOne(own, { sources, problems: wrong, rules: applyBotRules })
    problems.push(...wrong.map((problem) => ofBot(problem, { name, place })))
    return one === null ? null : { ...one, name }
  })
  const complete = loaded.filter((one) => one !== null)
  problems.push(...refuseTwins(complete))
  if (problems.length > 0) throw settingsError(dedupe(problems))
  return {
    settings: processSettingsFrom(nest(collected), { pretty: sources.terminal }),
    secrets: {
      ...(alertUrl !== undefined && { alertUrl }),
      ...(storeUrl !== undefined && { storeUrl }),
    },
    origins: originsOf(collected),
    bots: complete,
    folder,
  }
}

/** What is wrong for all bots is said once. */
function dedupe(problems: readonly Problem[]): Problem[] {
  const said = new Set<string>()
  return problems.filter(({ place, path, message }) => {
    const name = [place, path, message].join('\n')
    return !said.has(name) && said.add(name)
  })
}

/** Names the bot; what is missing is missing from its entry. */
function ofBot(problem: Problem, { name, place }: { name: string; place: string }): Problem {
  const path = ['bots', name, ...(problem.path === '' ? [] : [problem.path])].join('.')
  return { ...problem, path, place: problem.place === '' ? place : problem.place }
}

/** What must differ between two bots. */
interface Telling {
  what: string
  of: (bot: LoadedBot) => string | number | null
  /** The setting that says it. */
  path: string
  hint?: string
}

const TELLING: readonly Telling[] = [
  {
    what: 'the token of the same bot',
    of: ({ secrets }) => botIdOf(secrets.botToken.reveal()),
    path: 'bot.token',
  },
  {
    what: 'the same token for the local bot',
    of: ({ secrets }) => presentedToken(secrets).reveal(),
    path: 'bot.token',
  },
  { what: 'the same dataDir', of: ({ settings }) => settings.dataDir, path: 'dataDir' },
  {
    what: 'the same store.schema',
    of: ({ settings, secrets }) => (secrets.storeUrl === undefined ? null : settings.store.schema),
    path: 'store.schema',
    hint: 'a schema is of one bot: give one of them another store.schema',
  },
]

/** What tells two bots apart must differ. */
function refuseTwins(bots: readonly LoadedBot[]): Problem[] {
  return TELLING.flatMap(({ what, of, path, hint }) => {
    const first = new Map<string | number, string>()
    return bots.flatMap((bot) => {
      const value = of(bot)
      const other = value === null ? undefined : first.get(value)
      if (value !== null && other === undefined) first.set(value, bot.name)
      if (other === undefined) return []
      const place = bot.origins.get(path) ?? bot.origins.get('bot.token') ?? ''
      return [{ place, path: `bots.${bot.name}`, message: `has ${what} as bots.${other}`, hint }]
    })
  })
}

/** What the local bot presents. */
export function presentedToken({ clientToken, botToken }: Secrets): SecretSource {
  return clientToken ?? botToken
}

/**
 * Reads all that is of one bot.
 * @param o `problems` gains what is wrong; `rules` between settings
 * @returns null when the token is missing or anything else is wrong
 */
function readOne(
  collected: CollectedSettings,
  { sources, problems, rules }: { sources: Sources; problems: Problem[]; rules: typeof applyRules },
): Loaded | null {
  const before = problems.length
  const secrets = new Map<string, SecretSource>()
  const origins = originsOf(collected)
  const given = new Set<string>()
  for (const path of Object.keys(RULES)) {
    const found = findSecret(path, collected.levels, problems)
    if (found === null) continue
    given.add(path)
    origins.set(path, found.place)
    const secret = readSecret(found, collected, { problems, cwd: sources.cwd })
    if (secret !== null) secrets.set(path, secret)
  }
  // What cannot be read may hold what seems to be missing.
  const broken = new Set([...collected.problems, ...problems].map(({ path }) => path))
  const broke = rules({ ...collected, secrets: given, sources })
  problems.push(
    ...broke.filter((p) => p.place !== '' || (collected.complete && !broken.has(p.path))),
  )
  const isAnythingSet = collected.levels.some((level) => level.size > 0)
  if (!isAnythingSet && collected.problems.length === 0) throw nothingSetError(problems)
  const token = secrets.get('bot.token')
  const alertUrl = secrets.get('alert.url')
  const storeUrl = secrets.get('store.url')
  if (problems.length > before || token === undefined || collected.problems.length > 0) return null
  return {
    settings: settingsFrom(nest(collected), {
      proxy: readProxies(sources),
      pretty: sources.terminal,
    }),
    secrets: {
      botToken: token,
      clientToken: secrets.get('bot.clientToken') ?? null,
      passphrase: secrets.get('key.passphrase') ?? null,
      ...(storeUrl !== undefined && { storeUrl }),
      ...(alertUrl !== undefined && { alertUrl }),
      howToMakePassphrase: passphraseCommands({ dataDir: collected.dataDir, sources }),
    },
    origins,
    secretFiles: new Map(
      [...secrets].flatMap(([path, { file }]) => (file === null ? [] : [[`${path}File`, file]])),
    ),
  }
}

function originsOf({ values }: CollectedSettings): Map<string, string> {
  return new Map([...values].map(([path, { place }]) => [path, place]))
}

/**
 * Finds out where a running sidecar would be, for commands that talk to it; whether the rest of
 * the settings would do for a start is not asked.
 * @returns `dataDir`, absolute: that of the process where there are several bots
 * @throws OperatorError `settings` when any source holds something wrong or unknown
 */
export function loadDataDir(sources: Sources): string {
  const { dataDir, problems } = collect(sources)
  if (problems.length > 0) throw settingsError(problems)
  return dataDir
}

/**
 * Whether any source says where the service is, or who the bot is. Without that, whoever asks knows
 * no more than where a sidecar runs.
 */
export function namesService(sources: Sources): boolean {
  const { levels } = collect(sources)
  const paths = ['upstream.url', 'bot.token', 'bot.tokenFile']
  return levels.some((level) => paths.some((path) => level.has(path)))
}

/** What opens a store, or a copy of one. */
export interface StoreAccess {
  /** Absolute. */
  dataDir: string
  protection: Settings['key']['protection']
  passphrase: SecretSource | null
  /** The database that holds the store; null when it is in `dataDir`. */
  storeUrl: SecretSource | null
  store: Settings['store']
}

/**
 * Loads what commands need that open a store and never reach the service.
 * @throws OperatorError `settings`, with every problem of every source at once; `usage` as `load` does
 */
export function loadStoreAccess(sources: Sources): StoreAccess {
  const collected = collectNamed(sources)
  const { dataDir, values, levels, problems } = collected
  const reading = { problems, cwd: sources.cwd }
  const [passphrase = null, storeUrl = null] = ['key.passphrase', 'store.url'].map((path) => {
    const found = findSecret(path, levels, problems)
    return found === null ? null : readSecret(found, collected, reading)
  })
  if (problems.length > 0) throw settingsError(problems)
  const valueOf = (path: string): unknown => values.get(path)?.value ?? presetOf(path)
  const caFile = valueOf('store.caFile') as string | undefined
  return {
    dataDir,
    passphrase,
    protection: valueOf('key.protection') as StoreAccess['protection'],
    storeUrl,
    store: {
      schema: valueOf('store.schema') as string,
      ...(caFile === undefined ? {} : { caFile }),
    },
  }
}

/**
 * Finds out where the store is that a command is about.
 * @returns its folder, absolute
 * @throws OperatorError `settings`, `usage` as `load` does
 */
export function loadStoreDir(sources: Sources): string {
  const { dataDir, problems } = collectNamed(sources)
  if (problems.length > 0) throw settingsError(problems)
  return dataDir
}

/** What counts for the only bot, or for the one that `sources.bot` names. */
function collectNamed(sources: Sources): CollectedSettings {
  const collected = collect(sources)
  const found = findBots(collected, sources)
  if (found === null) {
    if (sources.bot !== null) throw onlyBot()
    return collected
  }
  const bot = found.bots.find(({ name }) => name === sources.bot)
  if (bot === undefined) {
    throw whichBot(
      sources.bot,
      found.bots.map(({ name }) => name),
    )
  }
  const problems = [...collected.problems, ...found.problems, ...bot.collected.problems]
  return { ...bot.collected, problems }
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
  { problems, cwd }: { problems: Problem[]; cwd: string },
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
    const message = found.named
      ? describeSecretFile(error.message, String(found.value), cwd)
      : error.message
    problems.push({ place, path, message })
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
