/**
 * The sources of settings, and options that no process may be started with; the only place that
 * reads the environment.
 */
import inspector from 'node:inspector'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { PASSPHRASE_VARIABLES } from './passphrases.ts'
import { SecretReader } from './pipes.ts'
import { SETTINGS } from './settings.ts'
import { OperatorError, resultOr } from '../errors.ts'

/** Everything outside that decides how Postern runs, as values. */
export type Sources = ReturnType<typeof processSources>

/**
 * Reads the process's sources. Removes secrets from its environment, so that no child process and
 * no report contains them; a second call does not find them again.
 * @param flags by name without dashes; those that are no settings are ignored
 */
export function processSources(flags: Readonly<Record<string, unknown>>) {
  const env = textsOf(process.env)
  const given = textsOf(flags)
  removeSecrets(process.env)
  return {
    /** Flags by name without dashes, as given on the command line. */
    flags: given,
    env,
    /** What `--config` named, or null. */
    configFlag: given['config'] ?? null,
    /** Which of several bots `--bot` named, or null. */
    bot: given['bot'] ?? null,
    cwd: process.cwd(),
    /** The user's own folder, absolute; null without one. */
    home: homeFolder(),
    /** XDG_RUNTIME_DIR: a folder for sockets, meant for this user alone; null when there is none. */
    runtimeDir: env['XDG_RUNTIME_DIR'] || null,
    /** Whether fd 2 is a terminal. */
    terminal: process.stderr.isTTY,
    /** Options that Node itself was started with, those of NODE_OPTIONS included. */
    nodeOptions: [...process.execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)],
    inspectorOpen: inspector.url() !== undefined,
    secretReader: new SecretReader(),
    /** Whether an OS keychain might answer. False where there certainly is none. */
    mayHaveKeychain: mayHaveKeychain(env),
  }
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string'
  return Object.fromEntries(Object.entries(values).filter(isText))
}

function removeSecrets(env: NodeJS.ProcessEnv): void {
  for (const { kind, env: name } of SETTINGS) if (kind === 'secret') delete env[name]
  for (const name of PASSPHRASE_VARIABLES) delete env[name]
}

/** On macOS and Windows always; elsewhere it is reached by the session's D-Bus. */
function mayHaveKeychain(env: Readonly<Record<string, string>>): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true
  const { DBUS_SESSION_BUS_ADDRESS = '', XDG_RUNTIME_DIR = '' } = env
  const hasBus = XDG_RUNTIME_DIR !== '' && existsSync(`${XDG_RUNTIME_DIR}/bus`)
  return DBUS_SESSION_BUS_ADDRESS !== '' || hasBus
}

/**
 * The environment for a command that runs beside us: ours without our secrets, and `added`.
 * @param o `withheld`: a further variable that is left out
 * @returns also whether there was something to withhold
 */
export function commandEnvironment(o: {
  added: Readonly<Record<string, string>>
  withheld: string
}): { env: NodeJS.ProcessEnv; hasWithheld: boolean } {
  const { [o.withheld]: withheld, ...env } = process.env
  removeSecrets(env)
  return { env: { ...env, ...o.added }, hasWithheld: withheld !== undefined }
}

/** None without HOME and an entry of the user, or with an empty or relative HOME. */
function homeFolder(): string | null {
  const folder = resultOr(homedir, '')
  return isAbsolute(folder) ? folder : null
}

/**
 * Folders in which this user's processes find each other, the most fleeting first. They may
 * not exist yet.
 */
export function userRuntimeFolders(): string[] {
  const { XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state } = process.env
  return [runtime, state || join(homeFolder() ?? '', '.local', 'state')].filter(
    (folder) => folder !== undefined && isAbsolute(folder),
  ) as string[]
}

/** The control url of a running sandbox in the environment; undefined without one. */
export const sandboxControlUrl = (): string | undefined =>
  process.env['POSTERN_SANDBOX_CONTROL'] || undefined

/** The token that the control of `postern sandbox` shall have; undefined where none is given. */
export const sandboxControlToken = (): string | undefined =>
  process.env['POSTERN_SANDBOX_CONTROL_TOKEN'] || undefined

/**
 * Refuses to run in a process that shows its secrets or does not check certificates.
 * @throws OperatorError `environment`, with every reason at once
 */
export function refuseUnsafeProcess(sources: Sources): void {
  const { env, nodeOptions, inspectorOpen } = sources
  const has = (option: string) =>
    nodeOptions.some((given) => given === option || given.startsWith(`${option}=`))
  const reasons = [
    env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' &&
      'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate; name a private authority in upstream.caFile',
    has('--insecure-http-parser') && '--insecure-http-parser lets requests be smuggled',
    has('--tls-keylog') && '--tls-keylog writes down what opens every connection',
    inspectorOpen && 'an open inspector (--inspect) shows keys and words to whoever connects',
    env['NODE_ENV'] === 'development' &&
      'NODE_ENV=development makes the OpenPGP library print its errors',
  ].filter((reason) => reason !== false)
  if (reasons.length === 0) return
  throw new OperatorError(
    'environment',
    `this process would not be safe: ${reasons.join('; ')}`,
    'start without it',
  )
}
