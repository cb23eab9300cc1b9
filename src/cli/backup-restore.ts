import { Command } from 'commander'
import { loadKeeping } from '../config/load.ts'
import { printBackup } from './backup-report.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { printNotice } from './terminal.ts'

/** `postern backup restore`: a backup becomes the store of an empty data directory. */
export function backupRestoreCommand(): Command {
  const command = new Command('restore')
    .description('put a backup into a data directory that holds no store, after verifying it')
    .argument('<file>', 'the backup')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern backup restore postern.backup').action(restore)
}

async function restore(file: string, _options: unknown, command: Command): Promise<void> {
  const keeping = loadKeeping(sourcesOf(command))
  const { restoreBackup } = await import('../context.ts')
  printBackup(await restoreBackup(file, keeping))
  printNotice(`restored into ${keeping.dataDir}; \`postern backup accept\` lets it run`)
}
