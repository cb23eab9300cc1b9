import { Command } from 'commander'
import type { DeletionReport } from '../control/keys.ts'
import { takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { confirmTyped } from './prompts.ts'
import { printJson, printNotice } from './terminal.ts'

interface DeleteFlags {
  yes?: boolean
  json?: boolean
}

/** `postern key delete`: destroys an old secret key, after showing what becomes unreadable. */
export function keyDeleteCommand(): Command {
  const command = new Command('delete')
    .description(
      'destroy the secret part of an old key for good, after showing what becomes unreadable',
    )
    .argument('<fingerprint>', 'which key, in full')
    .option('--yes', 'do not ask')
    .option('--json', 'print what was deleted, and what becomes unreadable, as JSON')
  return takeSettings(
    command,
    'postern key delete 0123456789abcdef0123456789abcdef01234567',
  ).action(remove)
}

async function remove(fingerprint: string, options: DeleteFlags, command: Command): Promise<void> {
  await withSidecar(command, async (sidecar) => {
    const report = await sidecar.keyDeletion({ fingerprint })
    printDeletion(report)
    const { fingerprint: answer } = report.key
    const question = 'type the fingerprint to delete it: '
    const yes = '--yes deletes without asking'
    const done = 'nothing was deleted'
    if (options.yes !== true) await confirmTyped({ question, answer, done, yes })
    const deleted = await sidecar.keyDelete({ fingerprint: report.key.fingerprint })
    if (options.json === true) return printJson(report)
    printNotice(deleted.message)
  })
}

function printDeletion({ key, loses, unsure }: DeletionReport): void {
  printNotice(`deleting ${key.fingerprint}, retired at ${key.retiredAt ?? 'no time'}`)
  printNotice('this becomes unreadable for good:')
  for (const line of loses) printNotice(`  ${line}`)
  printNotice('only this store is overwritten; the key may survive in:')
  for (const line of unsure) printNotice(`  ${line}`)
}
