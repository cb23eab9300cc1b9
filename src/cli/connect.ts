/** Reaching a sidecar: the running one through its socket, or its data directory when none runs. */
import type { Command } from 'commander'
import { load, loadDataDir } from '../config/load.ts'
import type { Loaded } from '../config/load.ts'
import type { Sources } from '../config/sources.ts'
import { connectControl } from '../control/client.ts'
import type { Operations } from '../control/operations.ts'
import { createLogger } from '../logger.ts'
import type { Log } from '../logger.ts'
import { sourcesOf } from './flags.ts'

/**
 * Does something with the sidecar of the settings' `dataDir`, whether it runs or not.
 * @param use gets its operations, and the sources of the settings
 * @param o `begins`: when none runs and there is no store, one is made
 * @throws what `use` throws; OperatorError when the settings or the data directory refuse
 */
export async function withSidecar<T>(
  command: Command,
  use: (sidecar: Operations, sources: Sources) => Promise<T>,
  o: { begins: boolean } = { begins: false },
): Promise<T> {
  return await withSidecarFrom(sourcesOf(command), use, o)
}

/** The same, for sources that were read before. */
export async function withSidecarFrom<T>(
  sources: Sources,
  use: (sidecar: Operations, sources: Sources) => Promise<T>,
  o: { begins: boolean } = { begins: false },
): Promise<T> {
  await using running = await connectControl(loadDataDir(sources))
  if (running !== null) return await use(running, sources)
  const loaded = load(sources)
  const { settings, secrets } = loaded
  const log = createLog(loaded, 'warn')
  const { createOffline } = await import('../context.ts')
  await using offline = await createOffline({ settings, secrets, log }, o.begins ? 'begin' : 'look')
  return await use(offline.operations, sources)
}

/**
 * The log that settings ask for, with all their secrets scrubbed from it.
 * @param preset the level when none was set
 */
export function createLog({ settings, secrets, origins }: Loaded, preset?: string): Log {
  const { httpsProxy, httpProxy } = settings.upstream.proxy
  const sources = [secrets.botToken, secrets.clientToken, secrets.passphrase, secrets.alertUrl]
  return createLogger({
    level: origins.has('log.level') ? settings.log.level : (preset ?? settings.log.level),
    pretty: settings.log.pretty,
    // The token: known to whoever runs the bot, and to nobody who only reads its log.
    ...(settings.log.ids === 'hash' && { hashIdsWith: secrets.botToken.reveal() }),
    secrets: [
      ...sources.filter((secret) => secret != null),
      ...[httpsProxy, httpProxy].flatMap(passwordOf),
    ],
  })
}

function passwordOf(proxy: string | undefined): string[] {
  const password = proxy === undefined ? '' : new URL(proxy).password
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
