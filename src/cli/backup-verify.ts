import { Command } from 'commander'
import { loadKeeping } from '../config/load.ts'
import { printBackup } from './backup-report.ts'
import { addExample, sourcesOf, addSettingFlags } from './flags.ts'
import { printJson } from './terminal.ts'

/** `postern backup verify`: opens a backup, and everything in it, and changes nothing. */
export function backupVerifyCommand(): Command {
  const command = new Command('verify')
    .description('open a backup with what opens the store, and say what is in it')
    .argument('<file>', 'the backup')
    .option('--json', 'print it as JSON')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern backup verify postern.backup').action(verify)
}

async function verify(file: string, { json }: { json?: boolean }, command: Command): Promise<void> {
  const keeping = loadKeeping(sourcesOf(command))
  const { verifyBackup } = await import('../context.ts')
  const report = await verifyBackup(file, keeping)
  if (json === true) printJson(report)
  else printBackup(report)
}
