import { Command } from 'commander'
import { addExample } from './flags.ts'
import { addControlFlag, withSandbox, type ControlFlags } from './sandbox-client.ts'
import { print, printNotice } from './terminal.ts'

/** `postern sandbox reset`: puts a running sandbox back as it was when it was ready. */
export function sandboxResetCommand(): Command {
  const command = addControlFlag(new Command('reset'))
    .description('put the world of a running sandbox back as it was at its start')
    .action(async (flags: ControlFlags) => {
      await withSandbox(flags, (control) => control.reset())
      printNotice('the world is as it was at the start')
    })
  return addExample(command, 'postern sandbox reset --control http://127.0.0.1:8801')
}

/** `postern sandbox snapshot`: keeps the world of a running sandbox as it is. */
export function sandboxSnapshotCommand(): Command {
  const command = addControlFlag(new Command('snapshot'))
    .description('keep the world of a running sandbox as it is now, and print the snapshot’s name')
    .argument('[name]', 'of the snapshot; one of the same name is replaced')
    .action(async (name: string | undefined, flags: ControlFlags) => {
      const input = name === undefined ? {} : { name }
      print((await withSandbox(flags, (control) => control.snapshot(input))).name)
    })
  return addExample(command, 'postern sandbox snapshot before --control http://127.0.0.1:8801')
}

/** `postern sandbox restore`: puts a running sandbox back as it was at a snapshot. */
export function sandboxRestoreCommand(): Command {
  const command = addControlFlag(new Command('restore'))
    .description('put the world of a running sandbox back as it was at a snapshot')
    .argument('<name>', 'of the snapshot')
    .action(async (name: string, flags: ControlFlags) => {
      await withSandbox(flags, (control) => control.restore({ name }))
      printNotice(`the world is as it was at ${name}`)
    })
  return addExample(command, 'postern sandbox restore before --control http://127.0.0.1:8801')
}
