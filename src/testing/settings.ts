import { z } from 'zod'
import type { Options } from '../config/options.ts'
import { nearestName, settingsError, withGroups, type Problem } from '../config/problems.ts'
import { SecretSource, type SecretRule } from '../config/secrets.ts'
import { SETTINGS, settingsFrom, valueAt, type Secrets, type Settings } from '../config/settings.ts'
import { operatorErrorOf } from '../errors.ts'

type SettingsInput = z.input<typeof Options>

/** A group of settings without some of them. */
type Without<Group extends keyof SettingsInput, Names extends string> = Omit<
  NonNullable<SettingsInput[Group]>,
  Names
>

/** The content of a settings file, without secrets and settings with an option of `startSidecar`. */
export interface TestSettings extends Omit<
  SettingsInput,
  'upstream' | 'bot' | 'dataDir' | 'key' | 'alert'
> {
  upstream?: Without<'upstream', 'url'>
  key?: Without<'key', 'passphrase' | 'passphraseFile' | 'agentPin' | 'agentPinFile'>
  alert?: Without<'alert', 'url' | 'urlFile'>
}

/** Options of a sidecar in a test. */
export interface StartSidecarOptions {
  /** Base URL of the service, such as `sandbox.url`; without `/bot/v1`. */
  upstream: string
  /** The bot's token at the service, such as `sandbox.token`. The bot presents it to the sidecar too. */
  token: string
  /** The token that the bot presents, so that it never holds the service's own. */
  clientToken?: string
  /**
   * Folder for the state that survives a restart, for a test that restarts the sidecar. It stays
   * when the sidecar stops. By default a temporary one, which goes with the sidecar.
   */
  dataDir?: string
  /**
   * Any other settings, as a settings file has them. Both ports are free ones by default, nothing is
   * logged (`log: { level: 'info' }` logs to stderr), and the secret keys rest without protection
   * (use `key: { protection: 'passphrase' }` with `passphrase`).
   */
  settings?: TestSettings
  /** The sandbox whose clock the sidecar follows, as it is moved; this machine's clock without one. */
  clock?: { now(): number }
  /** Protects the secret keys. Deriving its key needs half a second at each start. */
  passphrase?: string
  /**
   * Milliseconds within which the sidecar must be ready; 8000 by default. `false` waits until it
   * listens and no longer, for a test of a bot before a service that is down.
   */
  readyWithinMs?: number | false
}

/** `dataDir` is absolute. */
type TestSettingsSource = StartSidecarOptions & { dataDir: string }

const PATHS = SETTINGS.map(({ path }) => path)
const SECRETS = SETTINGS.filter(({ kind }) => kind === 'secret').map(({ path }) => path)

/** @throws OperatorError `settings`, with every problem at once */
export function loadTestSettings(source: TestSettingsSource): {
  settings: Settings
  secrets: Secrets
} {
  const problems: Problem[] = []
  const read = (option: string, value: unknown, rule: SecretRule): SecretSource | null => {
    if (value === undefined) return null
    const text = typeof value === 'string' ? value : ''
    const secret = operatorErrorOf(() => SecretSource.fromValue(text, rule))
    if (secret instanceof SecretSource) return secret
    problems.push({ place: option, path: '', message: secret.message })
    return null
  }
  const botToken = read('token', source.token ?? '', 'token')
  const clientToken = read('clientToken', source.clientToken, 'token')
  const passphrase = read('passphrase', source.passphrase, 'passphrase')
  const settings = readSettings(source, problems)
  if (botToken === null || settings === null || problems.length > 0) throw settingsError(problems)
  return { settings, secrets: { clientToken, passphrase, botToken } }
}

function readSettings(source: TestSettingsSource, problems: Problem[]): Settings | null {
  const { upstream, dataDir, passphrase, settings = {} } = source
  problems.push(...refuseSecrets(settings))
  try {
    return settingsFrom({
      ...settings,
      upstream: { ...settings.upstream, url: upstream },
      dataDir,
      listen: withPresets(settings.listen, { port: 0 }),
      admin: withPresets(settings.admin, { port: 0 }),
      key: withPresets(settings.key, {
        protection: passphrase === undefined ? 'none' : 'passphrase',
      }),
      log: withPresets(settings.log, { level: 'silent' }),
    })
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    problems.push(...error.issues.flatMap(describeIssue))
    return null
  }
}

/** A value that is no group stays as it is, and is refused with everything else. */
const withPresets = <Group extends object>(given: Group | undefined, presets: Group): Group =>
  given === undefined || typeof given === 'object' ? { ...presets, ...given } : given

/** They would be left out: secrets have options of their own, or are of no use in a test. */
const refuseSecrets = (settings: object): Problem[] =>
  SECRETS.flatMap((path) => [path, `${path}File`])
    .filter((path) => valueAt(settings, path) !== undefined)
    .map((path) => ({ place: 'settings', path, message: 'is no setting of a sidecar in a test' }))

function describeIssue(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const name = path === '' ? key : `${path}.${key}`
      const nearest = nearestName(name, withGroups(PATHS))
      return { place: 'settings', path: name, message: 'no such setting', nearest }
    })
  }
  const expected =
    SETTINGS.find((setting) => setting.path === path)?.expected ?? 'a group of settings'
  const message = issue.message.startsWith('expected ') ? issue.message : `expected ${expected}`
  return [{ ...(path === 'upstream.url' ? UPSTREAM : { place: 'settings', path }), message }]
}

/** Where a problem of `upstream.url` is: `startSidecar` has an option for it. */
const UPSTREAM = { place: 'upstream', path: '' }
