/** `postern key export` and `import`: secret keys out of the store and into it. */
import { commandSecret } from '../config/passphrases.ts'
import type { Sources } from '../config/sources.ts'
import type { Operations } from '../operators/operations.ts'
import { OperatorError, refusedError } from '../errors.ts'
import { withSidecar, OperatorCommand, printDone } from './operator-command.ts'
import { promptSecret, readPassphrase } from './prompts.ts'
import { readInput, refuseExisting, writeNewFile } from './files.ts'
import { isStdoutTerminal, print, printNotice } from './terminal.ts'

/** `postern key export`: a secret key for another program, locked under a passphrase of its own. */
export const keyExportCommand = (): OperatorCommand =>
  new OperatorCommand('export')
    .description(
      'export a secret key in the form that gpg imports, locked under a passphrase of its own',
    )
    .argument('[fingerprint]', 'which key; the active one by default')
    .option('-o, --output <file>', 'write to a new file that only you can read, not to stdout')
    .option('--force', 'replace the file, or print to a terminal')
    .notes(
      `It asks for the passphrase, or takes it from the environment:
  POSTERN_EXPORT_PASSPHRASE       passphrase that locks the exported key
  POSTERN_EXPORT_PASSPHRASE_FILE  file that holds it`,
    )
    .example('postern key export | gpg --import')
    .runs(exportKey)

async function exportKey(
  sources: Sources,
  fingerprint: string | undefined,
  { output, force = false }: { output?: string; force?: boolean },
): Promise<void> {
  if (output !== undefined) refuseExisting(output, { force })
  else if (isStdoutTerminal() && !force) {
    throw refusedError(
      'a secret key is not printed to a terminal',
      'name a file with --output, pipe it (`postern key export | gpg --import`), or force it with --force',
    )
  }
  const key = await withSidecar(sources, async (sidecar) => {
    const question = 'passphrase for the exported key: '
    const passphrase = await readPassphrase(sources, { which: 'export', question })
    return await sidecar.keyExport({ fingerprint, passphrase })
  })
  printNotice(`${key.fingerprint}, ${key.state}: the secret key, locked under the passphrase`)
  if (output === undefined) return print(key.armored)
  print(writeNewFile(output, { text: key.armored }, { force }))
}

/** Larger than any key that is accepted: a key that is too large gets a refusal of its own. */
const MAX_BYTES = 512 * 1024

/** Reads a secret key; `passphrase` is of the environment, null where that holds none. */
export async function readKeyFile(path: string | undefined, sources: Sources) {
  const file = await readInput(path, { maxBytes: MAX_BYTES, what: 'the secret key' })
  const secret = commandSecret('keyFile', sources) ?? commandSecret('export', sources)
  return { file, passphrase: secret?.reveal() ?? null }
}

/** `postern key import`: a secret key that another program exported becomes the bot's. */
export const keyImportCommand = (): OperatorCommand =>
  new OperatorCommand('import')
    .description(
      'import a secret key that gpg or another program exported, and print its fingerprint',
    )
    .argument('[file]', 'armored or binary; stdin by default')
    .option(
      '--retired',
      'for opening alone, also one that has expired: it never becomes the bot’s published key',
    )
    .option('--force', 'also a key that ends within a day')
    .notes(
      `If the key has a passphrase, it asks for that, or takes it from the environment:
  POSTERN_KEY_FILE_PASSPHRASE       passphrase that the key was exported under
  POSTERN_KEY_FILE_PASSPHRASE_FILE  file that holds it
The key is pending until the sidecar has published it. With --retired it is
never published, and opens for key.retainDays from now on.`,
    )
    .example('postern key import bot.asc')
    .runs(importKey)

async function importKey(
  sources: Sources,
  path: string | undefined,
  flags: { retired?: boolean; force?: boolean },
): Promise<void> {
  const { retired: isRetired = false, force: mayEndSoon = false } = flags
  const { file, passphrase } = await readKeyFile(path, sources)
  const wanted = { file: file.toString('base64'), passphrase, isRetired, mayEndSoon }
  const importIt = (sidecar: Operations) => importWith(sidecar, wanted)
  printDone(await withSidecar(sources, importIt, { mayCreateStore: true }))
}

/** Whether the key has a passphrase shows only when the sidecar reads it. */
async function importWith(sidecar: Operations, wanted: Parameters<Operations['keyImport']>[0]) {
  try {
    return await sidecar.keyImport(wanted)
  } catch (error) {
    const isMissing = error instanceof OperatorError && error.code === 'passphrase'
    if (!isMissing || wanted.passphrase !== null) throw error
    const passphrase = await promptSecret('passphrase of the key: ')
    if (passphrase === null || passphrase === '') throw error
    return await sidecar.keyImport({ ...wanted, passphrase })
  }
}
