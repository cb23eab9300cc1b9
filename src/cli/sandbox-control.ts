import { Command } from 'commander'
import { addExample, print, printNotice } from './terminal.ts'
import { addControlFlag, withSandbox, type ControlFlags } from './sandbox-client.ts'

/** `postern sandbox reset`, `snapshot` and `restore`: the world of a running sandbox as it was. */
export function worldCommands(): Command[] {
  const reset = worldCommand(
    'reset',
    'put the world of a running sandbox back as it was at its start',
  ).action(async (flags: ControlFlags) => {
    await withSandbox(flags, (control) => control.reset())
    printNotice('the world is as it was at the start')
  })
  const snapshot = worldCommand(
    'snapshot before',
    'keep the world of a running sandbox as it is now, and print the snapshot’s name',
  )
    .argument('[name]', 'of the snapshot; one of the same name is replaced')
    .action(async (name: string | undefined, flags: ControlFlags) => {
      print((await withSandbox(flags, (control) => control.snapshot({ name }))).name)
    })
  const restore = worldCommand(
    'restore before',
    'put the world of a running sandbox back as it was at a snapshot',
  )
    .argument('<name>', 'of the snapshot')
    .action(async (name: string, flags: ControlFlags) => {
      await withSandbox(flags, (control) => control.restore({ name }))
      printNotice(`the world is as it was at ${name}`)
    })
  return [reset, snapshot, restore]
}

function worldCommand(example: string, description: string): Command {
  const [name] = example.split(' ')
  const command = addControlFlag(new Command(name)).description(description)
  return addExample(command, `postern sandbox ${example} --control http://127.0.0.1:8801`)
}
