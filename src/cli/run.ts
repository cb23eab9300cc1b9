import { Command } from 'commander'
import { refuseUnsafeProcess } from '../config/environment.ts'
import { load } from '../config/load.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { createLog } from './log.ts'
import { shutdownRequested } from './shutdown.ts'

/** `postern run`: the sidecar, until it is told to stop. */
export function runCommand(): Command {
  const command = new Command('run').description('run the sidecar (the default command)')
  addSettingFlags(command, { isListed: true })
  command.addHelpText(
    'after',
    `
Each setting can also stand in the settings file (upstream.url) or in the environment
(POSTERN_UPSTREAM_URL); flags count over environment over file. Secrets are no flags:
  POSTERN_BOT_TOKEN         the token of the service; or POSTERN_BOT_TOKEN_FILE
  POSTERN_BOT_CLIENT_TOKEN  what the local bot presents; or POSTERN_BOT_CLIENT_TOKEN_FILE
  POSTERN_KEY_PASSPHRASE    unlocks the keyring; or POSTERN_KEY_PASSPHRASE_FILE`,
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
