import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { put, putJson, say } from './terminal.ts'

/** `postern key show`: a certificate, to compare fingerprints with or to import elsewhere. */
export function keyShowCommand(): Command {
  const command = new Command('show')
    .description('print the certificate of a key, armored')
    .argument('[fingerprint]', 'which key; the active one when not given')
    .option('--json', 'print fingerprint, state and certificate as JSON')
  takeSettings(command, { shown: false })
  return example(command, 'postern key show | gpg --import').action(show)
}

async function show(
  fingerprint: string | undefined,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  const key = await withSidecar(command, (sidecar) => sidecar.keyShow({ fingerprint }))
  if (json === true) return putJson(key)
  say(`${key.fingerprint}, ${key.state}`)
  put(key.certificate)
}
