import { Command } from 'commander'
import { commandPassphrase, PASSPHRASES } from '../config/passphrases.ts'
import type { Sources } from '../config/sources.ts'
import type { Operations } from '../control/operations.ts'
import { OperatorError } from '../errors.ts'
import { promptSecret } from './prompts.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { readInput } from './read-input.ts'
import { print, printNotice } from './terminal.ts'

/** More than any key that is taken, so that what is too large is refused with its own reason. */
const MAX_BYTES = 512 * 1024

/** `postern key import`: a secret key that another program exported becomes the bot's. */
export function keyImportCommand(): Command {
  const command = new Command('import')
    .description(
      'take over a secret key that gpg or another program exported, and print its fingerprint',
    )
    .argument('[file]', 'armored or binary; stdin when not given')
    .addHelpText(
      'after',
      `
Where the key has a passphrase, it is asked for, or comes from the environment:
  POSTERN_EXPORT_PASSPHRASE  what the key was exported under; or POSTERN_EXPORT_PASSPHRASE_FILE
The key is pending until the sidecar has published it.`,
    )
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern key import bot.asc').action(importKey)
}

async function importKey(
  path: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  const input = await readInput(path, { maxBytes: MAX_BYTES, what: 'the secret key' })
  const file = input.toString('base64')
  const done = await withSidecar(
    command,
    async (sidecar, sources) => await importWith(sidecar, sources, file),
    { begins: true },
  )
  printNotice(done.message)
  print(done.fingerprint)
}

/** A key without a passphrase needs none; whether it has one shows when it is read. */
async function importWith(
  sidecar: Operations,
  sources: Sources,
  file: string,
): ReturnType<Operations['keyImport']> {
  const given = commandPassphrase(PASSPHRASES.export, sources)?.reveal() ?? null
  try {
    return await sidecar.keyImport({ file, passphrase: given })
  } catch (error) {
    const isMissing = error instanceof OperatorError && error.code === 'passphrase'
    if (!isMissing || given !== null) throw error
    const passphrase = await promptSecret('passphrase of the key: ')
    if (passphrase === null || passphrase === '') throw error
    return await sidecar.keyImport({ file, passphrase })
  }
}
