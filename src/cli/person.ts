/** `postern person`: everything known of a person. */
import type { ForgottenRow } from '../operators/people.ts'
import { readPersonId } from './flags.ts'
import { withSidecar, OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { confirmTyped } from './prompts.ts'
import { print } from './terminal.ts'
import { counted } from '../printable.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('forget')
    .description('erase what is known of a person')
    .argument('<userId>', 'which person', readPersonId)
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .example('postern person forget 4711')
    .runs(async (sources, userId: number, o: JsonFlag & { yes?: boolean }) => {
      const done = 'nothing was erased'
      const question = `erase person ${userId}? This cannot be undone. Type the id: `
      await confirmTyped(o.yes === true, { question, answer: String(userId), done })
      const report = await withSidecar(sources, (sidecar) => sidecar.personForget({ userId }))
      printAnswer(report, o, printForgotten)
    }),
]

function printForgotten({ rows, entries, stays }: ForgottenRow): void {
  const erased = Object.entries(rows).filter(([, count]) => count > 0)
  for (const [table, count] of erased) print(`erased  ${count} of ${table}`)
  print(`erased  the content of ${counted(entries, 'entry', 'entries')} of the journal`)
  for (const line of stays) print(`stays   ${line}`)
}
