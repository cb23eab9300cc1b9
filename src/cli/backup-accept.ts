import { Command } from 'commander'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printNotice } from './terminal.ts'

/** `postern backup accept`: a restored store is the one that counts from now on. */
export function backupAcceptCommand(): Command {
  const command = new Command('accept')
    .description('compare a restored store with what the service shows, and let it run')
    .option(
      '--latest',
      'nothing ran after the backup was taken, as when moving to another machine: nothing is missing',
    )
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern backup accept --latest').action(accept)
}

async function accept({ latest }: { latest?: boolean }, command: Command): Promise<void> {
  const isLatest = latest === true
  printNotice((await withSidecar(command, (sidecar) => sidecar.backupAccept({ isLatest }))).message)
}
