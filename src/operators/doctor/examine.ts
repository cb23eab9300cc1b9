/** Every line of `postern check`, in the order shown. */
import { resolve } from 'node:path'
import type { Bot } from '../../api/bot.ts'
import { approvalRules } from '../../config/client-entry.ts'
import { keyAccess } from '../../config/key-commands.ts'
import { isInside } from '../../config/rules.ts'
import type { Secrets, Settings } from '../../config/settings.ts'
import { asOperatorError, OperatorError, operatorErrorOf } from '../../errors.ts'
import type { Clients } from '../../clients/clients.ts'
import type { KnownChats, Trust } from '../../kernel/index.ts'
import { chooseProtection } from '../../store/choose.ts'
import type { Store } from '../../store/store.ts'
import { checkCoreDumps } from './check-core-dumps.ts'
import { checkDatabase } from './check-database.ts'
import { checkFolder } from './check-folder.ts'
import { checkKey, type CheckedKeys } from './check-key.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'
import { checkPeople, type PeopleParts } from './check-people.ts'
import { checkService, type ServiceParts } from './check-service.ts'
import { checkTls } from './check-tls.ts'

/** The examined parts of a store that opens. */
export interface ExaminedStore extends PeopleParts {
  store: Pick<Store, 'method'>
  keyring: CheckedKeys
  trust: Pick<Trust, 'all' | 'distrust' | 'policies'>
  clients: Pick<Clients, 'all'>
  knownChats: Pick<KnownChats, 'all'>
}

/** An open store, why it does not open, or null when there never was one. */
type StoreState = ExaminedStore | OperatorError | null

/** Settings and secrets that are examined. */
export interface Configured {
  settings: Settings
  secrets: Secrets
}

/** The calls to the service. */
export type ExaminedService = Pick<ServiceParts, 'me' | 'limits' | 'skewMs'>

/**
 * Runs all checks once, or those of the store, the bot's key in it, and the process that holds it.
 * Never throws for a failed check.
 */
export async function examine(
  about: 'everything' | 'store',
  configured: Configured,
  service: ExaminedService,
  store: StoreState,
): Promise<CheckLine[]> {
  const { bot, lines } =
    about === 'everything'
      ? await examineSettings(configured, service)
      : { bot: await service.me().catch(() => null), lines: [] }
  return [...lines, ...(await checkStore(bot, configured, store))]
}

/** Checks once all that settings configure beside the store. @returns the bot too, where the service gave it */
export async function examineSettings(
  { settings, secrets: { storeUrl, passphrase } }: Configured,
  service: ExaminedService,
) {
  const { upstream, key, store } = settings
  const { url, caFile, proxy } = upstream
  const dataDir = resolve(settings.dataDir)
  const isProxied = (url.startsWith('https:') ? proxy.httpsProxy : proxy.httpProxy) !== undefined
  const [folder, database, tls, { bot, lines }] = await Promise.all([
    checkFolder(dataDir),
    checkDatabase(storeUrl === undefined ? null : { ...store, url: storeUrl.reveal() }),
    checkTls(url, { caFile, isProxied }),
    checkService({ ...service, upstreamUrl: url, isProxied, managesKey: key.publish }),
  ])
  const passphraseLines = checkPassphraseFile(passphrase?.file ?? null, dataDir)
  return { bot, lines: [...folder, ...passphraseLines, ...database, ...tls, ...lines] }
}

/** @param bot as the service has it just now; null when that is not known */
async function checkStore(bot: Bot | null, configured: Configured, store: StoreState) {
  const { publish: managesKey, rotateEveryDays, algorithm } = configured.settings.key
  const isUnread = store instanceof OperatorError
  const opened = isUnread ? null : store
  const keys = isUnread ? 'unread' : (store?.keyring ?? null)
  return [
    storeLine(store),
    ...(await checkProtection(configured, store)),
    ...checkCoreDumps(),
    ...(bot === null ? [] : checkKey(bot, { keys, managesKey, rotateEveryDays })),
    ...(isUnread ? [] : approveLines(configured.settings, opened)),
    ...(opened === null ? [] : [trustLine(opened.trust)]),
    ...(opened === null ? [] : await checkPeople(opened, algorithm === 'pqc')),
  ]
}

/** A copy of the folder must not hold the passphrase of its store. */
function checkPassphraseFile(file: string | null, dataDir: string): CheckLine[] {
  if (file === null) return []
  if (!isInside(file, dataDir)) return [pass('passphrase', 'its file lies outside the data folder')]
  return [
    warn(
      'passphrase',
      `its file lies inside ${dataDir}, so a copy of that folder opens itself`,
      'move the file elsewhere, and set key.passphraseFile to where it is then',
    ),
  ]
}

function storeLine(store: StoreState): CheckLine {
  if (store === null) return pass('store', 'there is none yet; `postern run` makes one')
  if (store instanceof OperatorError) return fail('store', store.message, store.hint)
  return pass('store', `opens, with ${store.keyring.all.length} of our keys`)
}

/** Lines on the protection of an existing store, and of the one at the first start. */
const PROTECTED = {
  passphrase: ['a passphrase opens the store', 'the first start puts secrets under the passphrase'],
  exec: [
    'a command unwraps the secret that opens the store',
    'the first start has a command wrap the secret that opens the store',
  ],
  keychain: [
    'the OS keychain opens the store',
    'the first start puts secrets into the OS keychain, which can be used',
  ],
} as const
const HOW_TO_PROTECT = [
  '`postern key protect passphrase`, or `postern key protect keychain`',
  'set key.protection to passphrase before the first start',
] as const

async function checkProtection(
  { settings: { key, dataDir }, secrets }: Configured,
  store: StoreState,
): Promise<CheckLine[]> {
  if (store instanceof OperatorError || (store === null && !key.publish)) return []
  const method = store === null ? await firstProtection(key, secrets) : store.store.method
  if (method === null) return []
  if (method instanceof OperatorError) return [fail('protection', method.message, method.hint)]
  const when = store === null ? 1 : 0
  if (method !== 'none') return [pass('protection', PROTECTED[method][when])]
  const message = `none: whoever has ${resolve(dataDir)}, or a copy of it, has the bot’s secret keys`
  return [warn('protection', message, HOW_TO_PROTECT[when])]
}

/** The future choice of `postern run`, or why it will fail; a keychain is tried. */
async function firstProtection(key: Settings['key'], secrets: Secrets) {
  const { passphrase, howToMakePassphrase } = secrets
  const chosen = await chooseProtection({
    ...keyAccess(key, passphrase),
    isRequired: true,
    howToMakePassphrase,
  }).catch(asOperatorError)
  return chosen instanceof OperatorError ? chosen : (chosen?.method ?? null)
}

/** Rules of clients that there are not, and people without a private chat, whom nobody can ask. */
function approveLines({ approve, clients }: Settings, store: ExaminedStore | null): CheckLine[] {
  const problem = operatorErrorOf(() => approvalRules(approve, store?.clients.all ?? clients.list))
  if (problem instanceof OperatorError) return [fail('approve', problem.message, problem.hint)]
  const known = new Set(store?.knownChats.all.map(({ personId }) => personId))
  const strangers = approve.flatMap(({ by }) => by).filter((userId) => !known.has(userId))
  if (strangers.length === 0) return []
  const message = `no private chat with ${strangers.join(', ')}: calls that need their word are refused`
  return [fail('approve', message, 'have them write to the bot, or correct the ids')]
}

/** Counts people under the bot's policy; chats with a policy of their own are left out. */
function trustLine(trust: ExaminedStore['trust']): CheckLine {
  const waiting = trust.all.filter(
    ({ userId, listed, standing }) =>
      standing !== 'blocked' && listed !== null && trust.distrust(userId, listed, 0) !== null,
  )
  const message = `policy ${trust.policies.bot}, known people: ${trust.all.length}`
  if (waiting.length === 0) return pass('trust', message)
  return warn(
    'trust',
    `${message}, ${waiting.length} of them await your approval and receive nothing`,
    '`postern trust list` shows them; `postern trust accept` or `trust verify` settles it',
  )
}
