/** What the doctor looks at, from settings and parts. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Secrets, Settings } from '../config/settings.ts'
import { OperatorError } from '../errors.ts'
import { checkAll, type CheckParts } from '../observe/check.ts'
import type { Finding } from '../observe/finding.ts'
import { chooseProtection } from '../store/choose.ts'
import { weakCopiesIn } from '../store/inspect.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'

/**
 * Looks at everything once.
 * @param store its parts, why it does not open, or null when there never was one
 */
export async function examineAll(
  { settings, secrets }: { settings: Settings; secrets: Secrets },
  link: Link,
  store: Core | OperatorError | null,
): Promise<Finding[]> {
  const { upstream, key, dataDir } = settings
  const { proxy, url, caFile } = upstream
  const core = store instanceof Error ? null : store
  return await checkAll({
    me: link.calls.me,
    limits: link.limits,
    skewMs: () => link.watch.skewMs,
    upstreamUrl: url,
    managesKey: key.publish,
    rotateEveryDays: key.rotateEveryDays,
    dataDir: resolve(dataDir),
    tls: {
      ca: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
      proxied: proxy.httpsProxy !== undefined,
    },
    firstProtection: store === null && key.publish ? await firstOf(key, secrets) : null,
    storeProblem: store instanceof Error ? store : null,
    passphraseFile: secrets.passphrase?.file ?? undefined,
    protection: core?.store.method ?? null,
    weakCopies: weakCopiesIn(dataDir),
    keys: core === null ? null : keysOf(core),
    people: core === null ? null : peopleOf(core),
  })
}

/** What `postern run` will choose; a keychain is tried. */
async function firstOf(
  { protection }: Settings['key'],
  { passphrase, howToMakePassphrase }: Secrets,
): Promise<CheckParts['firstProtection']> {
  try {
    const wanted = await chooseProtection({
      protection,
      passphrase: passphrase?.reveal() ?? null,
      isRequired: true,
      howToMakePassphrase,
    })
    return wanted?.method ?? null
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
}

function keysOf({ keyring }: Core): CheckParts['keys'] {
  const { active, pending, all } = keyring
  return {
    active: active?.fingerprint ?? null,
    activeSinceMs: active?.createdAtMs ?? null,
    activeEndsMs: active?.endsMs ?? Infinity,
    pending: pending?.fingerprint ?? null,
    all: all.map(({ fingerprint }) => fingerprint),
  }
}

/** Of chats with a policy of their own nothing is said here. */
function peopleOf({ peopleState: { trust } }: Core): CheckParts['people'] {
  const people = trust.all
  const waiting = people.filter(
    ({ userId, listed, standing }) =>
      standing !== 'blocked' && listed !== null && trust.distrust(userId, listed, 0) !== null,
  )
  return { known: people.length, waiting: waiting.length, policy: trust.policies.bot }
}
