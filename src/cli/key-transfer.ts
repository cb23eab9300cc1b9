/** `postern key export` and `import`: secret keys out of the store and into it. */
import { Command } from 'commander'
import { commandPassphrase, PASSPHRASES } from '../config/passphrases.ts'
import type { Sources } from '../config/sources.ts'
import type { Operations } from '../control/operations.ts'
import { OperatorError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { promptSecret, readPassphrase } from './prompts.ts'
import { readInput } from './read-input.ts'
import { isStdoutTerminal, print, printNotice } from './terminal.ts'
import { refuseExisting, writeNewFile } from './write-file.ts'

interface Options {
  output?: string
  force?: boolean
}

/** `postern key export`: a secret key for another program, locked under a passphrase of its own. */
export function keyExportCommand(): Command {
  const command = new Command('export')
    .description('give a secret key as gpg imports it, locked under a passphrase of its own')
    .argument('[fingerprint]', 'which key; the active one when not given')
    .option('-o, --output <file>', 'a new file, for its owner alone; else stdout')
    .option('--force', 'replace the file, or print to a terminal')
    .addHelpText(
      'after',
      `
The passphrase is asked for, or comes from the environment:
  POSTERN_EXPORT_PASSPHRASE  what the exported key is locked under; or POSTERN_EXPORT_PASSPHRASE_FILE`,
    )
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern key export | gpg --import').action(exportKey)
}

async function exportKey(
  fingerprint: string | undefined,
  { output, force = false }: Options,
  command: Command,
): Promise<void> {
  if (output !== undefined) refuseExisting(output, { force })
  else if (isStdoutTerminal() && !force) throw onTerminal()
  const key = await withSidecar(command, async (sidecar, sources) => {
    const passphrase = await readPassphrase(sources, {
      which: 'export',
      question: 'passphrase for the exported key: ',
      isNew: true,
    })
    return await sidecar.keyExport({ fingerprint, passphrase })
  })
  printNotice(`${key.fingerprint}, ${key.state}: the secret key, locked under the passphrase`)
  if (output === undefined) return print(key.armored)
  print(writeNewFile(output, { text: key.armored }, { force }))
}

function onTerminal(): OperatorError {
  return new OperatorError(
    'refused',
    'a secret key is not printed to a terminal',
    'name a file with --output, pipe it (`postern key export | gpg --import`), or insist with --force',
  )
}

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
  addSettingFlags(command, { isListed: false })
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
    { mayCreateStore: true },
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
