import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { passphraseFor } from './ask.ts'
import { example, takeSettings } from './flags.ts'
import { putFile, refuseTaken } from './put-file.ts'
import { withSidecar } from './reach.ts'
import { isTerminal, put, say } from './terminal.ts'

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
  takeSettings(command, { shown: false })
  return example(command, 'postern key export | gpg --import').action(give)
}

async function give(
  fingerprint: string | undefined,
  { output, force = false }: Options,
  command: Command,
): Promise<void> {
  if (output !== undefined) refuseTaken(output, { force })
  else if (isTerminal() && !force) throw onTerminal()
  const key = await withSidecar(command, async (sidecar, sources) => {
    const passphrase = await passphraseFor(sources, {
      which: 'export',
      question: 'passphrase for the exported key: ',
      isNew: true,
    })
    return await sidecar.keyExport({ fingerprint, passphrase })
  })
  say(`${key.fingerprint}, ${key.state}: the secret key, locked under the passphrase`)
  if (output === undefined) return put(key.armored)
  put(putFile(output, { text: key.armored }, { force }))
}

function onTerminal(): OperatorError {
  return new OperatorError(
    'refused',
    'a secret key is not printed to a terminal',
    'name a file with --output, pipe it (`postern key export | gpg --import`), or insist with --force',
  )
}
