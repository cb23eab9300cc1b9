/** Brings flags, environment and file together: for each setting the value that counts. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { resultOr } from '../errors.ts'
import { PASSPHRASE_VARIABLES } from './passphrases.ts'
import { LATE_PIPE } from './pipes.ts'
import { nearestName, settingsError, type Problem } from './problems.ts'
import { presetOf, SETTINGS, type Setting } from './settings.ts'
import type { Sources } from './sources.ts'
import { readSettingsFile, type GivenSetting } from './yaml-file.ts'

/** Relative to the working directory. */
export const DEFAULT_FILE = 'config/postern.yaml'
const ENV_NAMES = SETTINGS.map(({ env }) => env)
/** Read elsewhere: one shell may serve a sandbox and a sidecar, and an alert's command may call Postern. */
const OTHER_ENV = [
  'POSTERN_CONFIG',
  'POSTERN_ALERT',
  'POSTERN_SANDBOX_CONTROL',
  'POSTERN_SANDBOX_CONTROL_TOKEN',
  ...PASSPHRASE_VARIABLES,
]
/** What Kubernetes puts into every pod beside a Service whose name begins with `postern`. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/

/** What one level (flags, environment, file) gives, by dotted path. */
export type SettingsLevel = ReadonlyMap<string, GivenSetting>

/** The settings of all sources together. */
export type CollectedSettings = ReturnType<typeof collect>

/**
 * Reads and checks every source; each wrong value is a problem, also where another one counts.
 * @param file the settings file; null for none
 * @throws OperatorError `settings` when the file is a pipe, and no pipe is waited for any more
 */
export function collect(sources: Sources, file = findFile(sources)) {
  const problems: Problem[] = []
  const isLate = file !== null && sources.secretReader.isLate(file)
  if (isLate) throw settingsError([{ place: file, path: '', message: LATE_PIPE }])
  const read = file === null ? null : readSettingsFile(file, sources.cwd)
  problems.push(...(read?.problems ?? []))
  const levels: readonly SettingsLevel[] = [
    fromFlags(sources),
    fromEnvironment(sources, problems),
    read?.values ?? new Map(),
  ]
  const values = checkLevels(levels, sources.cwd, problems)
  const dataDir = resolve(sources.cwd, String(values.get('dataDir')?.value ?? presetOf('dataDir')))
  const list = values.has('bots') ? null : (read?.bots ?? null)
  return {
    /** From the one that counts most to the one that counts least. */
    levels,
    /** The value that counts of each setting but secrets, checked, paths absolute. */
    values,
    /** The list of several bots in the file; null where there is none, or a folder counts. */
    list,
    /** Absolute, the default included. */
    dataDir,
    problems,
    /** False when the file could not be read, so that a missing setting may be in it. */
    complete: read?.readable ?? true,
  }
}

/**
 * Checks every value of every level.
 * @param levels from the one that counts most to the one that counts least
 * @param cwd what relative paths start from
 * @param problems receives the problems, also of values that another one overrides
 * @returns the value that counts of each setting but secrets, paths absolute
 */
export function checkLevels(
  levels: readonly SettingsLevel[],
  cwd: string,
  problems: Problem[],
): Map<string, GivenSetting> {
  const values = new Map<string, GivenSetting>()
  for (const setting of SETTINGS) {
    if (setting.kind === 'secret') continue
    for (const level of levels) {
      const given = level.get(setting.path)
      if (given === undefined) continue
      const checked = check(setting, given, cwd)
      if ('message' in checked) problems.push(checked)
      else if (!values.has(setting.path)) values.set(setting.path, checked)
    }
  }
  return values
}

/** Where the settings file is, or would be: `--config`, else POSTERN_CONFIG, else config/postern.yaml. */
export const settingsFile = ({ configFlag, env, cwd }: Sources): string =>
  resolve(cwd, configFlag ?? env['POSTERN_CONFIG'] ?? DEFAULT_FILE)

/** The settings file that is named, or is in its usual place; null for none. */
export function findFile(sources: Sources): string | null {
  const file = settingsFile(sources)
  const isNamed = (sources.configFlag ?? sources.env['POSTERN_CONFIG']) !== undefined
  return isNamed || existsSync(file) ? file : null
}

function fromFlags({ flags }: Sources): SettingsLevel {
  const level = new Map<string, GivenSetting>()
  for (const setting of SETTINGS) {
    const text = setting.flag === null ? undefined : flags[setting.flag]
    if (text !== undefined) {
      level.set(setting.path, { value: decode(setting, text), place: `--${setting.flag}` })
    }
  }
  return level
}

function fromEnvironment({ env }: Sources, problems: Problem[]): SettingsLevel {
  const level = new Map<string, GivenSetting>()
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('POSTERN_') || OTHER_ENV.includes(name)) continue
    const setting = SETTINGS.find((candidate) => candidate.env === name)
    if (setting !== undefined) {
      level.set(setting.path, { value: decode(setting, text), place: name })
    } else if (!SERVICE_LINK.test(name)) {
      const nearest = nearestName(name, [...ENV_NAMES, ...OTHER_ENV])
      problems.push({ place: name, path: '', message: 'no such setting', nearest })
    }
  }
  return level
}

const parse = (text: string): unknown => JSON.parse(text)

/** Parses text; a text of another kind stays text, and its schema refuses it. */
function decode({ kind }: Setting, text: string): unknown {
  if (kind === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (kind === 'command' && /^[[{]/.test(text)) return resultOr(() => parse(text), text)
  if (kind !== 'list') return text
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
}

function check(setting: Setting, given: GivenSetting, cwd: string): GivenSetting | Problem {
  const parsed = setting.schema.safeParse(given.value)
  // An optional schema accepts undefined, which no source can give.
  if (parsed.success) {
    const absolute = setting.kind === 'path' && typeof parsed.data === 'string'
    const value: unknown = absolute ? resolve(cwd, parsed.data as string) : parsed.data
    return { value, place: given.place }
  }
  const nearest =
    typeof given.value === 'string' ? nearestName(given.value, setting.choices ?? []) : undefined
  const message = describeExpected(setting, parsed.error)
  return { place: given.place, path: setting.path, message, nearest }
}

/** The values that a setting accepts, after its schema refused one. */
export function describeExpected({ expected, kind }: Setting, { issues }: z.ZodError): string {
  const custom = issues.find(({ message }) => message.startsWith('expected '))
  const at = kind === 'entries' ? (custom ?? issues[0])?.path.join('.') : ''
  return `${at ? `${at}: ` : ''}${custom?.message ?? `expected ${expected}`}`
}
