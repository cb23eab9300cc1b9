import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { put, say } from './terminal.ts'

/** `postern key generate`: the bot's first key, before anything is published. */
export function keyGenerateCommand(): Command {
  const command = new Command('generate').description(
    'make the bot’s first key without publishing it, and print its fingerprint',
  )
  takeSettings(command, { shown: false })
  return example(command, 'postern key generate').action(generate)
}

async function generate(_options: unknown, command: Command): Promise<void> {
  const done = await withSidecar(command, (sidecar) => sidecar.keyGenerate(), { begins: true })
  say(done.message)
  put(done.fingerprint)
}
