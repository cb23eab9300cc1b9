import { Command } from 'commander'
import { loadKeeping } from '../config/load.ts'
import { putReport } from './backup-report.ts'
import { example, sourcesOf, takeSettings } from './flags.ts'
import { say } from './terminal.ts'

/** `postern backup restore`: a backup becomes the store of an empty data directory. */
export function backupRestoreCommand(): Command {
  const command = new Command('restore')
    .description('put a backup into a data directory that holds no store, after verifying it')
    .argument('<file>', 'the backup')
  takeSettings(command, { shown: false })
  return example(command, 'postern backup restore postern.backup').action(restore)
}

async function restore(file: string, _options: unknown, command: Command): Promise<void> {
  const keeping = loadKeeping(sourcesOf(command))
  const { restoreBackup } = await import('../context.ts')
  putReport(await restoreBackup(file, keeping))
  say(`restored into ${keeping.dataDir}; \`postern backup accept\` lets it run`)
}
