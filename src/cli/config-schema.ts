import { Command } from 'commander'
import { settingsSchema } from '../config/schema.ts'
import { addExample } from './flags.ts'
import { print } from './terminal.ts'

/** `postern config schema`: the JSON schema of the settings file, for editors. */
export function configSchemaCommand(): Command {
  const command = new Command('schema').description('print the JSON schema of the settings file')
  return addExample(command, 'postern config schema > postern.schema.json').action(() => {
    print(settingsSchema())
  })
}
