import { Command } from 'commander'
import { refuseUnsafeProcess } from '../config/environment.ts'
import { load } from '../config/load.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { createLog } from './log.ts'
import { shutdownRequested } from './shutdown.ts'

/** `postern run`: the sidecar, until it is asked to stop. */
export function runCommand(): Command {
  const command = new Command('run').description('run the sidecar (the default command)')
  addSettingFlags(command, { isListed: true })
  command.addHelpText(
    'after',
    `
Each setting can also be in the settings file (upstream.url) or in the
environment (POSTERN_UPSTREAM_URL). A flag wins over the environment, and the
environment over the file. Secrets have no flags, only variables, and variables
that name a file, such as POSTERN_BOT_TOKEN_FILE:
  POSTERN_BOT_TOKEN         the bot's token at the service
  POSTERN_BOT_CLIENT_TOKEN  token that the bot sends to Postern
  POSTERN_KEY_PASSPHRASE    passphrase that unlocks the secret keys`,
  )
  return addExample(command, 'postern run --upstream-url https://api.example.org').action(run)
}

async function run(_options: unknown, command: Command): Promise<void> {
  const stop = shutdownRequested()
  const sources = sourcesOf(command)
  refuseUnsafeProcess(sources)
  const loaded = load(sources)
  const log = createLog(loaded)
  const { createSidecar } = await import('../context.ts')
  const { settings, secrets } = loaded
  await using sidecar = await createSidecar({
    settings,
    secrets,
    log,
    runtimeDir: sources.runtimeDir,
  })
  log.info(await sidecar.listen(), 'listening')
  await stop
  log.info('stopping')
}
