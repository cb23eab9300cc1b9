/** `postern config`: the settings. */
import { Command } from 'commander'
import { load } from '../config/load.ts'
import { settingsSchema } from '../config/schema.ts'
import { showSettings } from '../config/show.ts'
import { addExample, addSettingFlags, sourcesOf } from './flags.ts'
import { print } from './terminal.ts'

/** `postern config show`: the settings in effect, and where each comes from. */
export function configShowCommand(): Command {
  const command = new Command('show').description(
    'print the settings in effect and where each comes from; secrets are masked',
  )
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern config show > config/postern.yaml').action(
    (_options: unknown, self: Command) => {
      print(showSettings(load(sourcesOf(self))))
    },
  )
}

/** `postern config schema`: the JSON schema of the settings file, for editors. */
export function configSchemaCommand(): Command {
  const command = new Command('schema').description('print the JSON schema of the settings file')
  return addExample(command, 'postern config schema > postern.schema.json').action(() => {
    print(settingsSchema())
  })
}
