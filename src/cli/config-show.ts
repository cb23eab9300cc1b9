import { Command } from 'commander'
import { load } from '../config/load.ts'
import { showSettings } from '../config/show.ts'
import { example, sourcesOf, takeSettings } from './flags.ts'
import { put } from './terminal.ts'

/** `postern config show`: the settings that count, and where each comes from. */
export function configShowCommand(): Command {
  const command = new Command('show').description(
    'print the settings that count, where each comes from, secrets masked',
  )
  takeSettings(command, { shown: false })
  return example(command, 'postern config show > config/postern.yaml').action(
    (_options: unknown, self: Command) => {
      put(showSettings(load(sourcesOf(self))))
    },
  )
}
