/**
 * Settings as the rest of Postern sees them, and the flat table of all there are. Settings and
 * secrets are different types: settings may be printed, secrets have no way to be.
 */
import { z } from 'zod'
import { abouts, type About } from './option-kinds.ts'
import { isOfEachBot, Options } from './options.ts'
import type { SecretSource } from './secrets.ts'
import type { TraceTarget } from './traces.ts'
import { baseUrlOf } from './urls.ts'

/** Egress proxies, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY or their lower-case forms, as they are. */
export type ProxySettings = Partial<Record<'httpsProxy' | 'httpProxy' | 'noProxy', string>>

/**
 * All settings of one bot and of the process, defaults filled in, paths absolute, `upstream.url`
 * without a trailing slash.
 */
export type Settings = ReturnType<typeof settingsFrom>

/**
 * The settings of a process with several bots. `dataDir` contains theirs, `alert` is for problems
 * of no bot in particular.
 */
export type ProcessSettings = ReturnType<typeof processSettingsFrom>

/** What must never be printed. `clientToken` null: the bot presents the service's own token. */
export interface Secrets {
  botToken: SecretSource
  clientToken: SecretSource | null
  passphrase: SecretSource | null
  /** Of the token that has the keys. */
  agentPin?: SecretSource | undefined
  /** The database that holds the store; without one it is in `dataDir`. */
  storeUrl?: SecretSource | undefined
  /** Where alerts are POSTed to. */
  alertUrl?: SecretSource | undefined
  /** Headers of each export of traces, for `pairsOf`. */
  traceHeaders?: SecretSource | undefined
  /** Commands for a person that make a passphrase file outside `dataDir`. */
  howToMakePassphrase?: string
}

/** One row of the table of settings. */
export type Setting = ReturnType<typeof row>

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly Setting[] = walk(Options, [])

/** The default of a setting, undefined when it has none. */
export const presetOf = (path: string): unknown =>
  SETTINGS.find((setting) => setting.path === path)?.preset

/** What other variables than those of Postern decide, and the terminal. */
interface OfEnvironment {
  proxy?: ProxySettings
  pretty?: boolean
  /** Null: there are no traces. */
  traces?: TraceTarget | null
}

/**
 * Fills in defaults: what tests and the demo make settings with.
 * @param options what a settings file could hold, secrets ignored
 * @throws ZodError when a setting is wrong
 */
export function settingsFrom(
  options: z.input<typeof Options>,
  { proxy = {}, pretty = false, traces: tracesTo = null }: OfEnvironment = {},
) {
  const given = Options.parse(options)
  const { bot: _bot, bots: _bots, key, upstream, ...rest } = given
  const { passphrase: _passphrase, passphraseFile: _file, ...others } = key
  const { agentPin: _pin, agentPinFile: _pinFile, ...keySettings } = others
  return {
    ...rest,
    upstream: { ...upstream, url: baseUrlOf(upstream.url), proxy },
    store: { schema: given.store.schema, caFile: given.store.caFile },
    key: keySettings,
    alert: { command: given.alert.command },
    log: { ...given.log, pretty: given.log.pretty ?? pretty },
    traces: { ...given.traces, target: tracesTo },
  }
}

const { listen, admin, dataDir, log, traces, alert, store, openpgp } = Options.shape
/** All else is left out. */
const ProcessOptions = z.object({ listen, admin, dataDir, log, traces, alert, store, openpgp })

/** The same for what several bots have in common. */
export function processSettingsFrom(
  options: z.input<typeof ProcessOptions>,
  { pretty = false }: { pretty?: boolean } = {},
) {
  const given = ProcessOptions.parse(options)
  return {
    ...given,
    alert: { command: given.alert.command },
    /** How the one database is reached; the schema is each bot's own. */
    store: { caFile: given.store.caFile },
    log: { ...given.log, pretty: given.log.pretty ?? pretty },
  }
}

/** The part of a process with several bots that belongs to no bot. */
export interface OfProcess {
  settings: ProcessSettings
  secrets: Pick<Secrets, 'alertUrl' | 'storeUrl'>
}

/** The dotted paths of what counts otherwise for the process in one than in the other. */
export function changedOfProcess(before: OfProcess, now: OfProcess): string[] {
  const settings = SETTINGS.map(({ path }) => path).filter((path) => {
    const [one, other] = [before, now].map((of) => JSON.stringify(valueAt(of.settings, path)))
    return one !== other
  })
  const secrets = (['alertUrl', 'storeUrl'] as const).filter(
    (name) => before.secrets[name]?.reveal() !== now.secrets[name]?.reveal(),
  )
  return [...settings, ...secrets.map((name) => (name === 'alertUrl' ? 'alert.url' : 'store.url'))]
}

/** The settings of one of several bots, without those of the process. */
export const ofEachBot = (settings: Settings): unknown[] =>
  SETTINGS.map(({ path }) => path)
    .filter(isOfEachBot)
    .map((path) => valueAt(settings, path))

/** The value at a dotted path; undefined where there is none. */
export const valueAt = (settings: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], settings)

interface Def {
  type: string
  innerType?: z.ZodType
  defaultValue?: unknown
}

/** Leaves are the schemas that were given an `About`; everything else is a group of them. */
function walk(schema: z.ZodType, path: string[]): Setting[] {
  const about = abouts.get(schema)
  if (about !== undefined) return [row(schema, path, about)]
  const def = schema.def as unknown as Def & { shape?: Record<string, z.ZodType> }
  if (def.innerType !== undefined) return walk(def.innerType, path)
  return Object.entries(def.shape ?? {}).flatMap(([name, child]) => walk(child, [...path, name]))
}

function row(schema: z.ZodType, path: string[], about: About) {
  const words = path.flatMap((part) => part.split(/(?=[A-Z])/)).map((word) => word.toLowerCase())
  const def = schema.def as unknown as Def
  return {
    ...about,
    /** As in the file, dotted: `upstream.allowHttp`. */
    path: path.join('.'),
    /** `POSTERN_UPSTREAM_ALLOW_HTTP` */
    env: `POSTERN_${words.join('_').toUpperCase()}`,
    /** `upstream-allow-http`, or null: of secrets, since every process sees flags, and of entries. */
    flag: about.kind === 'secret' || about.kind === 'entries' ? null : words.join('-'),
    meaning: schema.description ?? '',
    /** Undefined when there is none. */
    preset: def.type === 'default' ? def.defaultValue : undefined,
    schema,
  }
}
