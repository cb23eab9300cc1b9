import { Argument, Command } from 'commander'
import type { Operations } from '../control/operations.ts'
import { readPassphrase } from './prompts.ts'
import { takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printNotice } from './terminal.ts'

type Protection = Parameters<Operations['keyProtect']>[0]['protection']
const PROTECTIONS: readonly Protection[] = ['passphrase', 'keychain', 'none']

/** `postern key protect`: another passphrase, or another protection, for everything secret. */
export function keyProtectCommand(): Command {
  const command = new Command('protect')
    .description('protect the store with a new passphrase, with the OS keychain, or with nothing')
    .addArgument(
      new Argument('<protection>', 'how the store is protected from now on').choices(PROTECTIONS),
    )
    .addHelpText(
      'after',
      `
The settings say what opens the store now. It asks for the new passphrase, or
takes it from the environment:
  POSTERN_NEW_PASSPHRASE       the new passphrase of the store
  POSTERN_NEW_PASSPHRASE_FILE  file that holds it`,
    )
  return takeSettings(command, 'postern key protect passphrase').action(protect)
}

async function protect(protection: Protection, _options: unknown, command: Command): Promise<void> {
  const done = await withSidecar(command, async (sidecar, sources) => {
    const passphrase =
      protection === 'passphrase'
        ? await readPassphrase(sources, {
            which: 'new',
            question: 'new passphrase: ',
            isNew: true,
          })
        : null
    return await sidecar.keyProtect({ protection, passphrase })
  })
  printNotice(done.message)
  print(done.protection)
}
