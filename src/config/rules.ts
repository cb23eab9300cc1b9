/** Rules between settings. Each rule is independent, so that no problem hides another. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readBounded } from './files.ts'
import type { Problem } from './problems.ts'
import { describeExposure } from './secrets.ts'
import { presetOf } from './settings.ts'
import type { Sources } from './sources.ts'
import { readTraces } from './traces.ts'
import { resultOr } from '../errors.ts'
import { describeOthersProgram, quotePath } from '../util/file-owners.ts'
import { isLoopback, SOCKET_PATH_BYTES } from '../util/local-door.ts'
import { describeProxyProblem, isPlainHttp } from './urls.ts'
import type { GivenSetting } from './yaml-file.ts'

const MAX_CA_BYTES = 1024 * 1024
/** PostgreSQL silently truncates longer names: two bots could get one schema. */
const MAX_SCHEMA_BYTES = 63
/** The keyring opens with 32 keys at most: the published one, one that waits, and old ones. */
export const MAX_OLD_KEYS = 30
/** The problem of a service at an address of plain http. */
export const PLAIN_HTTP = 'expected https: plain http shows the token to the network'
const OWN_TOKEN = ', or tokenFile'
const ONLY_TOKEN = ': POSTERN_BOT_TOKEN or POSTERN_BOT_TOKEN_FILE'

/** The given settings and secrets. */
export interface Whole {
  values: ReadonlyMap<string, GivenSetting>
  /** Dotted paths of the secrets that some source gives. */
  secrets: ReadonlySet<string>
  /** Absolute. */
  dataDir: string
  sources: Sources
  /** Its tokens are in its entry alone. */
  isOneOfSeveral?: boolean
}

/** Gives the problems that it finds. */
type SettingsRule = (whole: Whole) => Problem[]

/** Applies every rule for a bot, and those of its process where that serves no other; gives all problems. */
export function applyRules(whole: Whole): Problem[] {
  const ofBot = Object.values(OF_BOT).flatMap((rule) => rule(whole))
  return whole.isOneOfSeveral === true ? ofBot : [...ofBot, ...applyProcessRules(whole)]
}

/** Applies the rules for settings that are the same for all bots of a process. */
export const applyProcessRules = (whole: Whole): Problem[] =>
  Object.values(OF_PROCESS).flatMap((rule) => rule(whole))

/** The effective value of a setting: the given one, or its default. */
const valueOf = ({ values }: Whole, path: string): unknown =>
  values.get(path)?.value ?? presetOf(path)

const problem = ({ values }: Whole, path: string, message: string, hint?: string): Problem[] => [
  { place: values.get(path)?.place ?? '', path, message, hint },
]

const givesPassphrase = ({ secrets, values }: Whole): boolean =>
  secrets.has('key.passphrase') || values.has('key.passphraseCommand')

/** The rules for a bot. */
const OF_BOT: Record<string, SettingsRule> = {
  refuseNoService(whole) {
    if (valueOf(whole, 'upstream.url') !== undefined) return []
    return problem(whole, 'upstream.url', 'is required: --upstream-url or POSTERN_UPSTREAM_URL')
  },

  refuseNoToken(whole) {
    if (whole.secrets.has('bot.token')) return []
    const ways = whole.isOneOfSeveral === true ? OWN_TOKEN : ONLY_TOKEN
    return problem(whole, 'bot.token', `is required${ways}`)
  },

  refusePlainHttp(whole) {
    const text = valueOf(whole, 'upstream.url')
    if (typeof text !== 'string' || valueOf(whole, 'upstream.allowHttp') === true) return []
    if (!isPlainHttp(text)) return []
    return problem(whole, 'upstream.url', PLAIN_HTTP, 'use https, or set upstream.allowHttp: true')
  },

  refuseOpenDoor(whole) {
    const host = String(valueOf(whole, 'listen.host'))
    const isSafe = isLoopback(host) || whole.values.has('listen.tlsCertFile')
    if (isSafe || whole.secrets.has('bot.clientToken')) return []
    const [name, howToSet] =
      whole.isOneOfSeveral === true
        ? ['clientToken', 'clientTokenFile for each bot']
        : ['bot.clientToken', 'bot.clientToken (POSTERN_BOT_CLIENT_TOKEN_FILE)']
    return problem(
      whole,
      'listen.host',
      `expected a loopback address, since ${name} is not set`,
      `set ${howToSet}, so that the service’s token does not travel in the clear, or listen on 127.0.0.1`,
    )
  },

  refuseAuthorities: refuseCaFile('upstream.caFile'),

  refuseLongSchema(whole) {
    const bytes = Buffer.byteLength(String(valueOf(whole, 'store.schema')))
    if (bytes <= MAX_SCHEMA_BYTES || !whole.secrets.has('store.url')) return []
    return problem(
      whole,
      'store.schema',
      `expected at most ${MAX_SCHEMA_BYTES} bytes, and there are ${bytes}, with a bot’s name`,
      'give the bot a store.schema of its own, or a shorter name',
    )
  },

  /** A program that cannot be run would be found out when it matters. */
  refuseAlertCommand(whole) {
    const path = valueOf(whole, 'alert.command')
    if (typeof path !== 'string') return []
    try {
      accessSync(path, constants.X_OK)
      if (statSync(path).isFile()) return []
    } catch {
      // reported below
    }
    return problem(whole, 'alert.command', `${path}: expected a program that this user may run`)
  },

  /** A program that others can write has the rights of Postern, as soon as it is run. */
  refuseOthersPrograms(whole) {
    const protection = valueOf(whole, 'key.protection')
    const isExec = typeof protection === 'object' && protection !== null && 'exec' in protection
    const agent = String(valueOf(whole, 'key.agent'))
    const modulePath = /^pkcs11:.*module-path=(.*)$/.exec(agent)?.[1]
    // gpgconf names the socket
    const program = agent === 'gpg-agent:' ? 'gpgconf' : modulePath
    const run: Record<string, unknown> = {
      'key.passphraseCommand': valueOf(whole, 'key.passphraseCommand'),
      'key.protection': isExec ? protection.exec : undefined,
      'key.agent': program && [resultOr(() => decodeURIComponent(program), program)],
      'alert.command': [valueOf(whole, 'alert.command') ?? ''],
    }
    return Object.entries(run).flatMap(([path, argv]) => {
      const { message, hint } =
        describeOthersProgram((argv ?? []) as string[], whole.sources.env['PATH']) ?? {}
      return message === undefined ? [] : problem(whole, path, message, hint)
    })
  },

  /**
   * Under `auto` a keychain may do as well, where there may be one; whether it does shows on use.
   * What an existing store needs, that store knows best.
   */
  refuseMissingPassphrase(whole) {
    const needed = valueOf(whole, 'key.publish') === true
    const protection = valueOf(whole, 'key.protection')
    const noOther = protection === 'auto' && !whole.sources.mayHaveKeychain
    if (!needed || givesPassphrase(whole) || whole.secrets.has('store.url')) return []
    if (existsSync(join(whole.dataDir, 'postern.db'))) return []
    if (protection !== 'passphrase' && !noOther) return []
    return problem(
      whole,
      'key.passphrase',
      'is required: the secret keys are never kept without protection unless you say so',
      passphraseCommands(whole.dataDir, whole.sources),
    )
  },

  refuseTwoPassphrases(whole) {
    const { secrets, values } = whole
    if (!secrets.has('key.passphrase') || !values.has('key.passphraseCommand')) return []
    const message = 'expected without key.passphrase and key.passphraseFile'
    return problem(whole, 'key.passphraseCommand', message)
  },

  /** openpgp.js signs and decrypts with secrets that it has, and with no others. */
  refuseAgentOfLibrary(whole) {
    const isBoth = valueOf(whole, 'openpgp.engine') === 'library' && whole.values.has('key.agent')
    return isBoth ? problem(whole, 'key.agent', 'expected with openpgp.engine: native') : []
  },

  refuseManyKeys(whole) {
    const every = Number(valueOf(whole, 'key.rotateEveryDays') ?? Infinity)
    const retain = Number(valueOf(whole, 'key.retainDays'))
    const least = Math.ceil(retain / MAX_OLD_KEYS)
    if (every >= least) return []
    return problem(
      whole,
      'key.rotateEveryDays',
      `expected at least ${least}, since old keys open for ${retain} days (key.retainDays)`,
      `at most ${MAX_OLD_KEYS} old keys are kept open; rotate less often, or retain for less time`,
    )
  },
}

/** The rules for settings that all bots of a process share. */
const OF_PROCESS: Record<string, SettingsRule> = {
  refuseSharedPort(whole) {
    const port = valueOf(whole, 'admin.port')
    const shared = port !== 0 && port === valueOf(whole, 'listen.port')
    const differ = valueOf(whole, 'admin.host') !== valueOf(whole, 'listen.host')
    if (!shared || differ) return []
    return problem(whole, 'admin.port', 'expected another port than that of listen.port')
  },

  refuseLongSocket(whole) {
    const path = valueOf(whole, 'listen.socket')
    if (typeof path !== 'string' || Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return []
    return problem(whole, 'listen.socket', `expected at most ${SOCKET_PATH_BYTES} bytes, absolute`)
  },

  /** A certificate and its key belong together, and an authority has no use by itself. */
  refuseLonely(whole) {
    const has = (path: string): boolean => whole.values.has(path) || whole.secrets.has(path)
    const needs = [
      ['listen.tlsCertFile', 'listen.tlsKeyFile'],
      ['listen.tlsKeyFile', 'listen.tlsCertFile'],
      ['listen.tlsClientCaFile', 'listen.tlsCertFile'],
      ['store.caFile', 'store.url'],
    ] as const
    return needs
      .filter(([given, needed]) => has(given) && !has(needed))
      .flatMap(([given, needed]) => problem(whole, given, `expected with ${needed}`))
  },

  /** A socket of the file system needs no TLS. */
  refuseTlsOnSocket(whole) {
    const isBoth = whole.values.has('listen.tlsCertFile') && whole.values.has('listen.socket')
    return isBoth ? problem(whole, 'listen.socket', 'expected without listen.tlsCertFile') : []
  },

  refuseCertificate: refuseCaFile('listen.tlsCertFile'),

  refuseClientAuthorities: refuseCaFile('listen.tlsClientCaFile'),

  refuseOpenTlsKey(whole) {
    const path = valueOf(whole, 'listen.tlsKeyFile')
    if (typeof path !== 'string') return []
    const read = readBounded(path, MAX_CA_BYTES)
    const wrong = 'problem' in read ? read.problem : describeExposure(path, read.facts)
    return wrong === null ? [] : problem(whole, 'listen.tlsKeyFile', `${path}: ${wrong}`)
  },

  refuseProxies({ sources }) {
    return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].flatMap((name) => {
      const value = sources.env[name] ?? ''
      const message = value === '' ? null : describeProxyProblem(value)
      return message === null ? [] : [{ place: name, path: '', message }]
    })
  },

  refuseTraces: ({ sources }) => readTraces(sources.env).problems,

  refuseStoreAuthorities: refuseCaFile('store.caFile'),
}

function refuseCaFile(name: string): SettingsRule {
  return (whole) => {
    const path = valueOf(whole, name)
    if (typeof path !== 'string') return []
    // It is read again by those who use it, which a pipe cannot be.
    const kind = statSync(path, { throwIfNoEntry: false })
    if (kind?.isFile() === false) return problem(whole, name, `${path}: is no ordinary file`)
    const read = readBounded(path, MAX_CA_BYTES)
    if ('problem' in read) return problem(whole, name, `${path}: ${read.problem}`)
    if (read.text.includes('-----BEGIN CERTIFICATE-----')) return []
    return problem(whole, name, `${path}: expected certificates in PEM`)
  }
}

/** A folder for files that hold secrets: the user's own, and outside `dataDir`. */
export function secretsFolder(dataDir: string, { home, env }: Pick<Sources, 'home' | 'env'>) {
  // By the XDG specification a relative one counts for nothing.
  const own = [env['XDG_CONFIG_HOME'] ?? ''].filter(isAbsolute)
  const ofHome = home === null ? [] : [`${home}/.config`]
  const folders = [...own, ...ofHome].map((one) => join(one, 'postern'))
  if (home !== null) folders.push(`${home}/.postern-secrets`)
  return folders.find((folder) => !isInside(folder, dataDir)) ?? '/etc/postern'
}

/** Whether a path is a folder or lies in it; both absolute. */
export const isInside = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(`${folder.replace(/\/$/, '')}/`)

/** The exact commands that make a passphrase file outside `dataDir`. */
export function passphraseCommands(dataDir: string, sources: Sources): string {
  const folder = secretsFolder(dataDir, sources)
  return [
    'make a passphrase, keep a copy of it elsewhere, and start again:',
    `  mkdir -p -m 700 ${quotePath(folder)}`,
    '  (umask 077 && head -c 32 /dev/urandom |',
    `    base64 > ${quotePath(`${folder}/passphrase`)})`,
    `  export POSTERN_KEY_PASSPHRASE_FILE=${quotePath(`${folder}/passphrase`)}`,
  ].join('\n')
}
