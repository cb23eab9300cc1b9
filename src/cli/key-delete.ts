import { Command } from 'commander'
import type { DeletionReport } from '../control/keys.ts'
import { OperatorError } from '../errors.ts'
import { takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { promptLine } from './prompts.ts'
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
    if (options.yes !== true && !(await confirm(report))) {
      throw new OperatorError('refused', 'nothing was deleted', 'answer with the whole fingerprint')
    }
    const done = await sidecar.keyDelete({ fingerprint: report.key.fingerprint })
    if (options.json === true) return printJson(report)
    printNotice(done.message)
  })
}

function printDeletion({ key, loses, unsure }: DeletionReport): void {
  printNotice(`deleting ${key.fingerprint}, retired at ${key.retiredAt ?? 'no time'}`)
  printNotice('this becomes unreadable for good:')
  for (const line of loses) printNotice(`  ${line}`)
  printNotice('only this store is overwritten; the key may survive in:')
  for (const line of unsure) printNotice(`  ${line}`)
}

async function confirm({ key }: DeletionReport): Promise<boolean> {
  const answer = await promptLine('type the fingerprint to delete it: ')
  if (answer === null) {
    throw new OperatorError(
      'usage',
      'there is no terminal to ask at',
      'nothing was deleted; --yes deletes without asking',
    )
  }
  return answer.trim().toLowerCase() === key.fingerprint
}
