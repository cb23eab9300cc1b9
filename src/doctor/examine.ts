/** What the doctor looks at, taken from settings and from what runs. */
import { resolve } from 'node:path'
import type { Secrets, Settings } from '../config/settings.ts'
import { OperatorError } from '../errors.ts'
import type { Keyring } from '../kernel/own-key/keyring.ts'
import type { Trust } from '../kernel/people/trust.ts'
import { chooseProtection } from '../store/choose.ts'
import type { Store } from '../store/store.ts'
import { checkSettings, checkStore, type SettingsParts, type StoreParts } from './check-all.ts'
import type { CheckLine } from './check-line.ts'
import type { ServiceParts } from './check-service.ts'

/** What is read of a store that opens. */
export interface ExaminedStore {
  store: Pick<Store, 'method'>
  keyring: Pick<Keyring, 'active' | 'pending' | 'all'>
  trust: Pick<Trust, 'all' | 'distrust' | 'policies'>
}

/** Settings and secrets that are examined. */
export interface Configured {
  settings: Settings
  secrets: Secrets
}

/** What asks the service. */
export type ExaminedService = Pick<ServiceParts, 'me' | 'limits' | 'skewMs'>

/**
 * Looks once at everything.
 * @param store what is open, why it does not open, or null when there never was one
 */
export async function examineAll(
  configured: Configured,
  service: ExaminedService,
  store: ExaminedStore | OperatorError | null,
): Promise<CheckLine[]> {
  const { bot, lines } = await checkSettings(settingsParts(configured, service))
  return [...lines, ...checkStore(bot, await storeParts(configured, store))]
}

/** Looks once at what settings lead to beside the store. */
export async function examineSettings(
  configured: Configured,
  service: ExaminedService,
): Promise<CheckLine[]> {
  return (await checkSettings(settingsParts(configured, service))).lines
}

/** Looks once at an open store, and at the bot's key in it. */
export async function examineStore(
  configured: Configured,
  { me }: Pick<ExaminedService, 'me'>,
  store: ExaminedStore | OperatorError | null,
): Promise<CheckLine[]> {
  const bot = await me().catch(() => null)
  return checkStore(bot, await storeParts(configured, store))
}

function settingsParts({ settings, secrets }: Configured, service: ExaminedService): SettingsParts {
  const { upstream, key, dataDir, store } = settings
  const { storeUrl } = secrets
  return {
    ...service,
    upstreamUrl: upstream.url,
    isProxied: isProxied(upstream),
    managesKey: key.publish,
    dataDir: resolve(dataDir),
    caFile: upstream.caFile,
    passphraseFile: secrets.passphrase?.file ?? undefined,
    database: storeUrl === undefined ? null : { ...store, url: storeUrl.reveal() },
  }
}

function isProxied({ url, proxy }: Settings['upstream']): boolean {
  return (url.startsWith('https:') ? proxy.httpsProxy : proxy.httpProxy) !== undefined
}

async function storeParts(
  { settings: { key, dataDir }, secrets }: Configured,
  store: ExaminedStore | OperatorError | null,
): Promise<StoreParts> {
  const opened = store instanceof Error ? null : store
  return {
    dataDir: resolve(dataDir),
    managesKey: key.publish,
    rotateEveryDays: key.rotateEveryDays,
    firstProtection: store === null && key.publish ? await firstProtection(key, secrets) : null,
    storeProblem: store instanceof Error ? store : null,
    protection: opened?.store.method ?? null,
    keys: opened === null ? null : describeKeys(opened.keyring),
    people: opened === null ? null : countPeople(opened.trust),
  }
}

/** What `postern run` will choose; a keychain is tried. */
async function firstProtection(
  { protection }: Settings['key'],
  { passphrase, howToMakePassphrase }: Secrets,
): Promise<StoreParts['firstProtection']> {
  try {
    const chosen = await chooseProtection({
      protection,
      passphrase: passphrase?.reveal() ?? null,
      isRequired: true,
      howToMakePassphrase,
    })
    return chosen?.method ?? null
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
}

function describeKeys({ active, pending, all }: ExaminedStore['keyring']): StoreParts['keys'] {
  return {
    active: active?.fingerprint ?? null,
    activeSinceMs: active?.createdAtMs ?? null,
    activeEndsMs: active?.endsMs ?? Infinity,
    pending: pending?.fingerprint ?? null,
    all: all.map(({ fingerprint }) => fingerprint),
  }
}

/** Counts under the bot's policy; chats with a policy of their own are left out. */
function countPeople(trust: ExaminedStore['trust']): StoreParts['people'] {
  const people = trust.all
  const waiting = people.filter(
    ({ userId, listed, standing }) =>
      standing !== 'blocked' && listed !== null && trust.distrust(userId, listed, 0) !== null,
  )
  return { known: people.length, waiting: waiting.length, policy: trust.policies.bot }
}
