/** What the watch looks at by itself, beside what happens. */
import type { Secrets, Settings } from '../config/settings.ts'
import type { Probes } from '../observe/service-watch.ts'
import { isDiskDoubtful } from '../store/disk.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import type { HandedInParts } from './parts.ts'
import { tryWriting } from './upkeep.ts'

/** The probes of a sidecar that runs. A store that is handed in may rest elsewhere than `dataDir`. */
export function createProbes(
  {
    settings,
    secrets,
    parts = {},
  }: { settings: Settings; secrets: Secrets; parts?: HandedInParts },
  { calls }: Link,
  { store, keyring, publication }: Core,
): Probes {
  const tryStore = (): Promise<void> => tryWriting(store)
  const isDoubtful = (): Promise<boolean> =>
    parts.store === undefined ? isDiskDoubtful(settings.dataDir) : Promise.resolve(false)
  return {
    askService: calls.probe,
    tryStore,
    reloadToken: () => secrets.botToken.reload(),
    lookLocally: async () => {
      publication?.lookAtClock()
      if (await isDoubtful()) await tryStore()
    },
    untilNextEndMs: () => {
      const leftMs = (keyring.active?.endsMs ?? Infinity) - Date.now()
      return leftMs > 0 ? leftMs : Infinity
    },
  }
}
