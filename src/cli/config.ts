/** `postern config`: the settings. */
import { Command } from 'commander'
import { load } from '../config/load.ts'
import { settingsSchema } from '../config/template.ts'
import { secretsLeftOut, showSettings } from '../config/show.ts'
import { addExample, sourcesOf, takeSettings } from './flags.ts'
import { print, printNotice } from './terminal.ts'
import { writeNewFile } from './write-file.ts'

/** `postern config show`: the settings in effect, and where each comes from. */
export function configShowCommand(): Command {
  const command = new Command('show')
    .description('print the settings in effect and where each comes from; secrets are masked')
    .option('--output <file>', 'write them to a new file, which `--config` takes, instead')
  return takeSettings(command, 'postern config show --output postern.yaml').action(show)
}

function show({ output }: { output?: string }, command: Command): void {
  const loaded = load(sourcesOf(command))
  const text = showSettings(loaded)
  if (output === undefined) return print(text)
  printNotice(`made ${writeNewFile(output, { text }, {})}`)
  for (const [path, origin] of secretsLeftOut(loaded)) {
    printNotice(
      `${path} is not in it, as no secret is: give it as before, or in ${path}File (it came from ${origin})`,
    )
  }
}

/** `postern config schema`: the JSON schema of the settings file, for editors. */
export function configSchemaCommand(): Command {
  const command = new Command('schema').description('print the JSON schema of the settings file')
  return addExample(command, 'postern config schema > postern.schema.json').action(() => {
    print(settingsSchema())
  })
}
