import { Argument, Command } from 'commander'
import type { Operations } from '../control/operations.ts'
import { readPassphrase } from './prompts.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printNotice } from './terminal.ts'

type Protection = Parameters<Operations['keyProtect']>[0]['protection']
const PROTECTIONS: readonly Protection[] = ['passphrase', 'keychain', 'none']

/** `postern key protect`: another passphrase, or another protection, for everything secret. */
export function keyProtectCommand(): Command {
  const command = new Command('protect')
    .description(
      'move everything secret under a new passphrase, into the OS keychain, or under none',
    )
    .addArgument(new Argument('<protection>', 'what it is to rest under').choices(PROTECTIONS))
    .addHelpText(
      'after',
      `
What opens the store now comes from the settings. A new passphrase is asked for, or comes from the
environment:
  POSTERN_NEW_PASSPHRASE  what the store is to open with; or POSTERN_NEW_PASSPHRASE_FILE`,
    )
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern key protect passphrase').action(protect)
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
