import { Command } from 'commander'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printNotice } from './terminal.ts'

/** `postern key publish`: puts our key at the service, when that is not done by itself. */
export function keyPublishCommand(): Command {
  const command = new Command('publish')
    .description('publish the bot’s key at the service, and print its fingerprint')
    .option('--replace', 'put it in the place of a key that is not ours')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern key publish --replace').action(publish)
}

async function publish({ replace }: { replace?: boolean }, command: Command): Promise<void> {
  const done = await withSidecar(command, (sidecar) =>
    sidecar.keyPublish({ replace: replace === true }),
  )
  printNotice(done.message)
  print(done.fingerprint)
}
