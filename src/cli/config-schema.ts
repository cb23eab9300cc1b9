import { Command } from 'commander'
import { settingsSchema } from '../config/schema.ts'
import { example } from './flags.ts'
import { put } from './terminal.ts'

/** `postern config schema`: the JSON schema of the settings file, for editors. */
export function configSchemaCommand(): Command {
  const command = new Command('schema').description('print the JSON schema of the settings file')
  return example(command, 'postern config schema > postern.schema.json').action(() => {
    put(settingsSchema())
  })
}
