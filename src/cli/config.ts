/** `postern config`: the settings. */
import { Command } from 'commander'
import { load } from '../config/load.ts'
import { settingsSchema } from '../config/template.ts'
import { secretsLeftOut, showSettings } from '../config/show.ts'
import { addExample, print, printNotice } from './terminal.ts'
import { OperatorCommand } from './operator-command.ts'
import { writeNewFile } from './write-file.ts'

export const commandsOfGroup = (): Command[] => [
  new OperatorCommand('show')
    .description('print the settings in effect and where each comes from; secrets are masked')
    .option('--output <file>', 'write them to a new file, which `--config` takes, instead')
    .example('postern config show --output postern.yaml')
    .runs((sources, { output }: { output?: string }) => {
      const loaded = load(sources)
      const text = showSettings(loaded)
      if (output === undefined) return print(text)
      printNotice(`made ${writeNewFile(output, { text }, {})}`)
      for (const [path, origin] of secretsLeftOut(loaded)) {
        printNotice(
          `${path} is not in it, as no secret is: give it as before, or in ${path}File (it came from ${origin})`,
        )
      }
    }),
  addExample(
    new Command('schema').description('print the JSON schema of the settings file'),
    'postern config schema > postern.schema.json',
  ).action(() => print(settingsSchema())),
]
