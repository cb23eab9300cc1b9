/** Connects to a sidecar: the running one through its socket, or its data directory when none runs. */
import { load } from '../config/load.ts'
import { loadDataDir } from '../config/store-access.ts'
import type { Sources } from '../config/sources.ts'
import { connectControl, type RunningSidecar } from '../operators/client.ts'
import type { Operations } from '../operators/operations.ts'

/** How a command opens the data directory when no sidecar runs. */
export interface OfflineOptions {
  /** When none runs and there is no store, one is made. */
  mayCreateStore?: boolean
}

/**
 * Does something with the sidecar of the settings' `dataDir`, whether it runs or not.
 * @param use gets its operations
 * @throws what `use` throws; OperatorError when the settings or the data directory refuse
 */
export async function withSidecar<T>(
  sources: Sources,
  use: (sidecar: Operations) => Promise<T>,
  { mayCreateStore = false }: OfflineOptions = {},
): Promise<T> {
  await using running = await connectServing(sources)
  if (running !== null) return await use(running)
  const loaded = load(sources)
  const { createLog } = await import('../config/log.ts')
  const { createOffline } = await import('../context.ts')
  const log = createLog(loaded, 'warn')
  const purpose = mayCreateStore ? 'begin' : 'look'
  await using offline = await createOffline({ ...loaded, log }, purpose)
  return await use(offline.operations)
}

/**
 * Connects to the sidecar that runs with the store open.
 * @returns null when none runs, or where that could not start the bot that is named: its store is
 *   closed then, and what keeps it closed may be what the command is to end
 * @throws OperatorError as `connectControl` does
 */
export async function connectServing(sources: Sources): Promise<RunningSidecar | null> {
  const { bot } = sources
  await using stack = new AsyncDisposableStack()
  const running = stack.use(await connectControl(loadDataDir(sources), undefined, bot))
  if (running !== null && bot !== null && (await isDown(running, bot))) return null
  stack.move()
  return running
}

async function isDown(running: RunningSidecar, name: string): Promise<boolean> {
  const { bots } = await running.botList()
  const found = bots.find((one) => one.name === name)
  return found?.served === false && found.reasons.every(({ code }) => code !== 'starting')
}
