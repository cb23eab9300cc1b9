/** What the watch looks at by itself, beside what happens. */
import type { Secrets, Settings } from '../config/settings.ts'
import type { Log } from '../logger.ts'
import { ExpiryWarnings, type ResourceLevels } from '../observe/expiry-warning.ts'
import { showResources } from '../observe/show.ts'
import type { Probes } from '../observe/probes.ts'
import { isDiskDoubtful } from '../store/disk.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import { createResourceReader } from './read-resources.ts'
import type { HandedInParts } from './parts.ts'
import { tryWriting } from './upkeep.ts'

export interface ProbesOptions {
  settings: Settings
  secrets: Secrets
  log: Log
  /** The bot's, where there are several. */
  name?: string
  parts?: HandedInParts
}

/** The probes of a sidecar that runs. Its store may rest elsewhere than in `dataDir`. */
export function createProbes(options: ProbesOptions, link: Link, core: Core): Probes {
  const { settings, secrets, log, parts = {} } = options
  const { calls, metrics } = link
  const { store, keyring, publication } = core
  const expiryWarnings = new ExpiryWarnings({ ...link, log })
  const readResources = createResourceReader(settings, core, {
    isOfSeveral: options.name !== undefined,
  })
  let latest: ResourceLevels | null = null
  showResources(metrics, () => latest)
  const tryStore = (): Promise<void> => tryWriting(store)
  const isInDataDir = parts.store === undefined && !store.isShared
  const isDoubtful = (): Promise<boolean> =>
    isInDataDir ? isDiskDoubtful(settings.dataDir) : Promise.resolve(false)
  return {
    askService: calls.probe,
    tryStore,
    reachStore: () => store.fresh(),
    reloadToken: () => secrets.botToken.reload(),
    lookAtClock: () => {
      link.watch.clockIsBehind(keyring.clocks.isBehind())
      publication?.lookAtClock()
    },
    lookLocally: async () => {
      await store.countSidecars().then(link.shareCalls, () => undefined)
      if (await isDoubtful()) await tryStore().catch(() => undefined)
      latest = await readResources()
      expiryWarnings.look(latest)
    },
    untilNextEndMs: () => {
      const leftMs = (keyring.active?.endsMs ?? Infinity) - Date.now()
      return leftMs > 0 ? leftMs : Infinity
    },
  }
}
