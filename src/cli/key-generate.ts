import { Command } from 'commander'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printNotice } from './terminal.ts'

/** `postern key generate`: the bot's first key, before anything is published. */
export function keyGenerateCommand(): Command {
  const command = new Command('generate').description(
    'make the bot’s first key without publishing it, and print its fingerprint',
  )
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern key generate').action(generate)
}

async function generate(_options: unknown, command: Command): Promise<void> {
  const done = await withSidecar(command, (sidecar) => sidecar.keyGenerate(), { begins: true })
  printNotice(done.message)
  print(done.fingerprint)
}
