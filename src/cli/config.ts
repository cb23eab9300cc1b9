/** `postern config`: the settings. */
import { load } from '../config/load.ts'
import { SETTINGS } from '../config/settings.ts'
import { settingsSchema } from '../config/template.ts'
import { secretsLeftOut, showSettings } from '../config/show.ts'
import { describeSetting } from './flags.ts'
import { PosternCommand } from './help.ts'
import { OperatorCommand } from './operator-command.ts'
import { printTable } from './table.ts'
import { print, printNotice } from './terminal.ts'
import { writeNewFile } from './files.ts'

export const commandsOfGroup = (): PosternCommand[] => [
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
  new PosternCommand('list')
    .description('list every setting with its meaning, choices and default')
    .example('postern config list | grep port')
    .action(listSettings),
  new PosternCommand('schema')
    .description('print the JSON schema of the settings file')
    .example('postern config schema > postern.schema.json')
    .action(() => print(settingsSchema())),
]

function listSettings(): void {
  printTable(SETTINGS.map((setting) => [setting.path, describeSetting(setting)]))
  printNotice(
    'each is an entry of the settings file (upstream.url), a variable (POSTERN_UPSTREAM_URL) and a flag (--upstream-url); secrets are no flags, but in files that settings such as bot.tokenFile name',
  )
}
