import { Command } from 'commander'
import { load } from '../config/load.ts'
import { showSettings } from '../config/show.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { print } from './terminal.ts'

/** `postern config show`: the settings that count, and where each comes from. */
export function configShowCommand(): Command {
  const command = new Command('show').description(
    'print the settings that count, where each comes from, secrets masked',
  )
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern config show > config/postern.yaml').action(
    (_options: unknown, self: Command) => {
      print(showSettings(load(sourcesOf(self))))
    },
  )
}
