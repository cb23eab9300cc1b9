/** Periodic checks of the sidecar: its store, its disk, resources that expire or run out. */
import type { Settings } from '../config/settings.ts'
import { expiryWarnings, type ResourceLevels } from '../observe/expiry-warning.ts'
import { showResources } from '../observe/show.ts'
import { isDiskDoubtful, freeBytesOf } from '../store/disk.ts'
import { writeFlag } from '../store/records/rows.ts'
import type { Probes } from '../observe/probes.ts'
import type { Core } from './core.ts'
import type { BotOptions, Link } from './link.ts'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { ReplayMemory } from '../kernel/index.ts'
import type { Store } from '../store/store.ts'

/** The probes of a sidecar that runs. Its store may rest elsewhere than in `dataDir`. */
export function createProbes(options: BotOptions, link: Link, core: Core): Probes {
  const { settings, secrets, log, parts = {} } = options
  const { calls, metrics } = link
  const { store, keyring, publication } = core
  const warn = expiryWarnings(link.warnings, link.alerts, log)
  const readResources = createResourceReader(settings, core, options.name !== undefined)
  let latest: ResourceLevels | null = null
  showResources(metrics, () => latest)
  const tryStore = (): Promise<void> => tryWriting(store)
  const isInDataDir = parts.store === undefined && !store.isShared
  const isDoubtful = (): Promise<boolean> =>
    isInDataDir ? isDiskDoubtful(settings.dataDir) : Promise.resolve(false)
  return {
    askService: calls.probe,
    tryStore,
    reachStore: () => store.keepUp(),
    reloadToken: () => secrets.botToken.reload(),
    lookAtClock: () => {
      link.watch.clockIsBehind(keyring.clocks.isBehind())
      publication?.lookAtClock()
    },
    lookLocally: async () => {
      await store.countSidecars().then(link.shareCalls, () => undefined)
      if (await isDoubtful()) await tryStore().catch(() => undefined)
      latest = await readResources()
      warn(latest)
    },
    untilNextEndMs: () => {
      const leftMs = (keyring.active?.endsMs ?? Infinity) - Date.now()
      return leftMs > 0 ? leftMs : Infinity
    },
  }
}

/**
 * An old key that opened something within this time, and since it was replaced, is needed still:
 * updates wait for 72 hours.
 */
export const NEEDED_MS = 3 * 86_400_000
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Makes the reader; the certificates of `upstream.caFile` are read once, as calls know them.
 * @param isOfSeveral resources shared by several bots are read elsewhere (`readMachine`)
 * @returns reads the current levels
 */
export function createResourceReader(
  { dataDir, upstream: { caFile } }: Settings,
  { keyring, keyUsage }: Pick<Core, 'keyring' | 'keyUsage'>,
  isOfSeveral = false,
): () => Promise<ResourceLevels> {
  const authorityEndsMs = caFile === undefined ? Infinity : firstEndMs(readFileSync(caFile, 'utf8'))
  return async () => {
    const sinceMs = Date.now() - NEEDED_MS
    const needed = keyring.all.filter(
      ({ state, fingerprint, retiredAtMs }) =>
        state === 'retired' &&
        (keyUsage.of(fingerprint).lastAtMs ?? 0) > Math.max(sinceMs, retiredAtMs ?? 0),
    )
    return {
      keyEndsMs: keyring.active?.endsMs ?? Infinity,
      authorityEndsMs,
      neededKeyEndsMs: Math.min(...needed.map((key) => keyring.opensUntilMs(key))),
      ...(isOfSeveral ? ELSEWHERE : await readMachine(dataDir)),
    }
  }
}

const ELSEWHERE = { diskFreeBytes: null, memoryUsed: null }

/** The free disk and the used memory of the process. */
export const readMachine = async (dataDir: string) => ({
  diskFreeBytes: await freeBytesOf(dataDir).catch(() => null),
  memoryUsed: memoryUsed(),
})

/**
 * When the first of the authorities in a PEM file ends, ms since the epoch; Infinity without any. One
 * that is there twice, by its subject, ends with the later.
 */
export function firstEndMs(pem: string): number {
  const ends = new Map<string, number>()
  for (const one of pem.match(PEM) ?? []) {
    const { subject, validTo } = new X509Certificate(one)
    ends.set(subject, Math.max(ends.get(subject) ?? 0, Date.parse(validTo)))
  }
  return Math.min(...ends.values())
}

/** The larger used share: of the machine's or container's memory, or of the heap. */
function memoryUsed(): number {
  const limit = process.constrainedMemory()
  const whole = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const heap = getHeapStatistics()
  return Math.max(process.memoryUsage.rss() / whole, heap.used_heap_size / heap.heap_size_limit)
}

const HOUR_MS = 3_600_000

/**
 * Deletes once an hour entries older than the memory against replays needs. A failed write shows
 * in health.
 * @param keysSinceMs when the oldest key was made that still opens, null without any
 */
export function pruneHourly(
  replayMemory: Pick<ReplayMemory, 'prune'>,
  keysSinceMs: () => number | null,
): Disposable {
  const prune = () => void replayMemory.prune(keysSinceMs()).catch(() => undefined)
  const timer = setInterval(prune, HOUR_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Writes a different value each time, so that the disk is really written to.
 * @throws Refusal `postern_store_unwritable`
 */
export async function tryWriting(store: Store): Promise<void> {
  await store.write((db) => writeFlag(db, 'tried_writing_at', String(Date.now())))
}
