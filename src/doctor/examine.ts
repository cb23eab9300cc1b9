/** What the doctor looks at, taken from settings and from what runs. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Secrets, Settings } from '../config/settings.ts'
import { OperatorError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Trust } from '../keys/trust.ts'
import { chooseProtection } from '../store/choose.ts'
import { weakCopiesIn } from '../store/inspect.ts'
import type { Store } from '../store/store.ts'
import { checkAll, type CheckParts } from './check-all.ts'
import type { CheckLine } from './check-line.ts'
import type { ServiceParts } from './check-service.ts'

/** What is read of a store that opens. */
export interface ExaminedStore {
  store: Pick<Store, 'method'>
  keyring: Pick<Keyring, 'active' | 'pending' | 'all'>
  trust: Pick<Trust, 'all' | 'distrust' | 'policies'>
}

/**
 * Looks at everything once.
 * @param store what is open, why it does not open, or null when there never was one
 */
export async function examineAll(
  { settings, secrets }: { settings: Settings; secrets: Secrets },
  service: Pick<ServiceParts, 'me' | 'limits' | 'skewMs'>,
  store: ExaminedStore | OperatorError | null,
): Promise<CheckLine[]> {
  const { upstream, key, dataDir } = settings
  const { proxy, url, caFile } = upstream
  const opened = store instanceof Error ? null : store
  return await checkAll({
    ...service,
    upstreamUrl: url,
    managesKey: key.publish,
    rotateEveryDays: key.rotateEveryDays,
    dataDir: resolve(dataDir),
    tls: {
      ca: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
      proxied: proxy.httpsProxy !== undefined,
    },
    firstProtection: store === null && key.publish ? await firstProtection(key, secrets) : null,
    storeProblem: store instanceof Error ? store : null,
    passphraseFile: secrets.passphrase?.file ?? undefined,
    protection: opened?.store.method ?? null,
    weakCopies: weakCopiesIn(dataDir),
    keys: opened === null ? null : describeKeys(opened.keyring),
    people: opened === null ? null : countPeople(opened.trust),
  })
}

/** What `postern run` will choose; a keychain is tried. */
async function firstProtection(
  { protection }: Settings['key'],
  { passphrase, howToMakePassphrase }: Secrets,
): Promise<CheckParts['firstProtection']> {
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

function describeKeys({ active, pending, all }: ExaminedStore['keyring']): CheckParts['keys'] {
  return {
    active: active?.fingerprint ?? null,
    activeSinceMs: active?.createdAtMs ?? null,
    activeEndsMs: active?.endsMs ?? Infinity,
    pending: pending?.fingerprint ?? null,
    all: all.map(({ fingerprint }) => fingerprint),
  }
}

/** Counts under the bot's policy; chats with a policy of their own are left out. */
function countPeople(trust: ExaminedStore['trust']): CheckParts['people'] {
  const people = trust.all
  const waiting = people.filter(
    ({ userId, listed, standing }) =>
      standing !== 'blocked' && listed !== null && trust.distrust(userId, listed, 0) !== null,
  )
  return { known: people.length, waiting: waiting.length, policy: trust.policies.bot }
}
