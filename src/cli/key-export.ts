import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { readPassphrase } from './prompts.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { writeNewFile, refuseExisting } from './write-file.ts'
import { withSidecar } from './connect.ts'
import { isStdoutTerminal, print, printNotice } from './terminal.ts'

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
  addSettingFlags(command, { shown: false })
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
