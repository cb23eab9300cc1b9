import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { say } from './terminal.ts'

/** `postern backup accept`: a restored store is the one that counts from now on. */
export function backupAcceptCommand(): Command {
  const command = new Command('accept')
    .description('compare a restored store with what the service shows, and let it run')
    .option(
      '--latest',
      'nothing ran after the backup was taken, as when moving to another machine: nothing is missing',
    )
  takeSettings(command, { shown: false })
  return example(command, 'postern backup accept --latest').action(accept)
}

async function accept({ latest }: { latest?: boolean }, command: Command): Promise<void> {
  const isLatest = latest === true
  say((await withSidecar(command, (sidecar) => sidecar.backupAccept({ isLatest }))).message)
}
