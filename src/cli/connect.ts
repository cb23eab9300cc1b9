/** Connects to a sidecar: the running one through its socket, or its data directory when none runs. */
import type { Command } from 'commander'
import { load } from '../config/load.ts'
import { loadDataDir } from '../config/store-access.ts'
import type { Sources } from '../config/sources.ts'
import { connectControl } from '../control/client.ts'
import type { Operations } from '../control/operations.ts'
import { sourcesOf } from './flags.ts'

/**
 * Does something with the sidecar of the settings' `dataDir`, whether it runs or not.
 * @param use gets its operations, and the sources of the settings
 * @param o `mayCreateStore`: when none runs and there is no store, one is made
 * @throws what `use` throws; OperatorError when the settings or the data directory refuse
 */
export async function withSidecar<T>(
  command: Command,
  use: (sidecar: Operations, sources: Sources) => Promise<T>,
  o: { mayCreateStore: boolean } = { mayCreateStore: false },
): Promise<T> {
  return await withSidecarFrom(sourcesOf(command), use, o)
}

/** The same, for sources that were read before. */
export async function withSidecarFrom<T>(
  sources: Sources,
  use: (sidecar: Operations, sources: Sources) => Promise<T>,
  o: { mayCreateStore: boolean } = { mayCreateStore: false },
): Promise<T> {
  await using running = await connectControl(loadDataDir(sources), undefined, sources.bot)
  if (running !== null) return await use(running, sources)
  const loaded = load(sources)
  const { settings, secrets } = loaded
  const { createLog } = await import('./log.ts')
  const { createOffline } = await import('../context.ts')
  const log = createLog(loaded, 'warn')
  await using offline = await createOffline(
    { settings, secrets, log },
    o.mayCreateStore ? 'begin' : 'look',
  )
  return await use(offline.operations, sources)
}
