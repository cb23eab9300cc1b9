import type { Command } from 'commander'
import { refuseUnsafeProcess, type Sources } from '../config/sources.ts'
import { loadAll, loadSeveral } from '../config/load.ts'
import type { Loaded } from '../config/read-one.ts'
import type { LoadedBots } from '../config/read-several.ts'
import { changedOfProcess } from '../config/settings.ts'
import { OperatorError, usageError } from '../errors.ts'
import { sourcesOf, addSettingFlags } from './flags.ts'
import { PosternCommand } from './help.ts'
import { createLog, createProcessLog } from '../config/log.ts'
import { onReload, shutdownRequested } from './signals.ts'

/** `postern run`: the sidecar, until it is asked to stop. */
export function runCommand(): Command {
  const command = new PosternCommand('run')
  addSettingFlags(command, { isListed: true })
  command.notes(
    `Settings are flags, variables (POSTERN_UPSTREAM_URL) and entries of a file
(upstream.url); the first that is given counts. \`postern config list\` has all.
Secrets are no flags. POSTERN_BOT_TOKEN, POSTERN_KEY_PASSPHRASE and the others
are variables, or in a file that POSTERN_BOT_TOKEN_FILE and the like name.`,
  )
  return command.example('postern run --upstream-url https://api.example.org').action(run)
}

async function run(_options: unknown, command: Command): Promise<void> {
  const stop = shutdownRequested()
  const sources = sourcesOf(command)
  refuseUnsafeProcess(sources)
  if (sources.bot !== null) {
    throw usageError('`run` serves all bots of the settings, not one of them', 'leave --bot out')
  }
  const loaded = loadAll(sources)
  if ('several' in loaded) return await runSeveral(loaded.several, sources, stop)
  await runOne(loaded.one, sources.runtimeDir, stop)
}

/** How many problems of reloaded settings are logged. */
const MAX_LOGGED = 20

/** @param stop resolves when it is to end */
async function runOne(loaded: Loaded, runtimeDir: Sources['runtimeDir'], stop: Promise<void>) {
  const log = createLog(loaded)
  const { createSidecar } = await import('../context.ts')
  await using sidecar = await createSidecar({ ...loaded, log, runtimeDir })
  log.info(await sidecar.listen(), 'listening')
  await stop
  log.info('stopping')
}

async function runSeveral(first: LoadedBots, sources: Sources, stop: Promise<void>) {
  let { bots } = first
  const log = createProcessLog(first, () => bots)
  const load = (): LoadedBots => {
    const others = changedOfProcess(first, loadSeveral(sources))
    if (others.length > 0) log.warn({ settings: others }, 'these settings count after a restart')
    // The stores of bots are below it.
    const flags = { ...sources.flags, 'data-dir': first.settings.dataDir }
    const loaded = loadSeveral({ ...sources, flags })
    bots = loaded.bots
    return loaded
  }
  const { createSeveral } = await import('../context.ts')
  const options = { loaded: first, log, logOf: createLog, load, runtimeDir: sources.runtimeDir }
  await using several = await createSeveral(options)
  log.info(await several.listen(), 'listening')
  sources.secretReader.waitNoMore()
  onReload(() => {
    several.reload().catch((error: unknown) => {
      const isKnown = error instanceof OperatorError
      const [problem, ...each] = isKnown ? error.message.split('\n') : []
      const why = isKnown ? { problem, hint: error.hint } : { error }
      log.error(why, 'the settings are refused; everything goes on as it was')
      // A line of the log is cut off where it is long.
      for (const one of each.slice(0, MAX_LOGGED))
        log.error({ problem: one.trim() }, 'wrong setting')
    })
  })
  await stop
  log.info('stopping')
}
