import { Command } from 'commander'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printJson, printNotice } from './terminal.ts'

/** `postern key show`: a certificate, to compare fingerprints with or to import elsewhere. */
export function keyShowCommand(): Command {
  const command = new Command('show')
    .description('print the certificate of a key, armored')
    .argument('[fingerprint]', 'which key; the active one when not given')
    .option('--json', 'print fingerprint, state and certificate as JSON')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern key show | gpg --import').action(show)
}

async function show(
  fingerprint: string | undefined,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  const key = await withSidecar(command, (sidecar) => sidecar.keyShow({ fingerprint }))
  if (json === true) return printJson(key)
  printNotice(`${key.fingerprint}, ${key.state}`)
  print(key.certificate)
}
