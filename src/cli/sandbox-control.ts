import { Command } from 'commander'
import { sandboxControlUrl } from '../config/sources.ts'
import { OperatorError } from '../errors.ts'
import type { Control } from '../sandbox/control/table.ts'
import { addExample } from './flags.ts'
import { print, printNotice } from './terminal.ts'

interface ControlFlags {
  control?: string
}

/** `postern sandbox reset`: puts a running sandbox back as it was when it was ready. */
export function sandboxResetCommand(): Command {
  const command = withControl(new Command('reset'))
    .description('put the world of a running sandbox back as it was at its start')
    .action(async (flags: ControlFlags) => {
      await ask(flags, (control) => control.reset())
      printNotice('the world is as it was at the start')
    })
  return addExample(command, 'postern sandbox reset --control http://127.0.0.1:8801')
}

/** `postern sandbox snapshot`: keeps the world of a running sandbox as it is. */
export function sandboxSnapshotCommand(): Command {
  const command = withControl(new Command('snapshot'))
    .description('keep the world of a running sandbox as it is now, and print the snapshot’s name')
    .argument('[name]', 'of the snapshot; one of the same name is replaced')
    .action(async (name: string | undefined, flags: ControlFlags) => {
      const input = name === undefined ? {} : { name }
      print((await ask(flags, (control) => control.snapshot(input))).name)
    })
  return addExample(command, 'postern sandbox snapshot before --control http://127.0.0.1:8801')
}

/** `postern sandbox restore`: puts a running sandbox back as it was at a snapshot. */
export function sandboxRestoreCommand(): Command {
  const command = withControl(new Command('restore'))
    .description('put the world of a running sandbox back as it was at a snapshot')
    .argument('<name>', 'of the snapshot')
    .action(async (name: string, flags: ControlFlags) => {
      await ask(flags, (control) => control.restore({ name }))
      printNotice(`the world is as it was at ${name}`)
    })
  return addExample(command, 'postern sandbox restore before --control http://127.0.0.1:8801')
}

function withControl(command: Command): Command {
  return command.option(
    '--control <url>',
    'address of the sandbox’s control, of any of its worlds; else $POSTERN_SANDBOX_CONTROL',
  )
}

/** Calls a running sandbox. @throws OperatorError when none is named, none answers, or it refuses */
async function ask<T>({ control: named }: ControlFlags, call: (on: Control) => Promise<T>) {
  const url = named ?? sandboxControlUrl()
  if (url === undefined || !URL.canParse(url)) {
    throw new OperatorError(
      'usage',
      url === undefined ? 'no sandbox is named' : 'the address of the sandbox is no URL',
      'give --control or POSTERN_SANDBOX_CONTROL the `controlUrl` that `postern sandbox --json` prints',
    )
  }
  const [{ createControlClient }, { ControlError }] = await Promise.all([
    import('../sandbox/control/client.ts'),
    import('../sandbox/control/operation.ts'),
  ])
  try {
    return await call(createControlClient(url.replace(/\/+$/, '')))
  } catch (error) {
    if (error instanceof ControlError) throw new OperatorError('refused', error.message)
    throw new OperatorError(
      'failed',
      `no sandbox answers at ${new URL(url).origin}`,
      'start one with `postern sandbox`, or give --control its `controlUrl`',
      { cause: error },
    )
  }
}
