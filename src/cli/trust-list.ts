import { Command } from 'commander'
import type { TrustRow } from '../control/trust.ts'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { table } from './table.ts'
import { putJson, say } from './terminal.ts'

interface Options {
  changed?: boolean
  json?: boolean
}

/** `postern trust list`: whom we know by which fingerprint since when. */
export function trustListCommand(): Command {
  const command = new Command('list')
    .description('list whom we know by which fingerprint since when')
    .option('--changed', 'only those for whom the service lists another one now')
    .option('--json', 'print them as JSON')
  takeSettings(command, { shown: false })
  return example(command, 'postern trust list --changed').action(list)
}

async function list({ changed, json }: Options, command: Command): Promise<void> {
  const report = await withSidecar(command, (sidecar) => sidecar.trustList())
  const people = changed === true ? report.people.filter(isChanged) : report.people
  if (json === true) return putJson({ ...report, people })
  say(`policy: ${report.policy}`)
  for (const { chatId, policy } of report.said) {
    if (chatId !== null) say(`policy in chat ${chatId}: ${policy}`)
  }
  if (people.length === 0) return say(changed === true ? 'nobody changed' : 'nobody was seen yet')
  table([
    ['PERSON', 'FINGERPRINT', 'SINCE', 'STANDING', 'SIGNS', 'LISTED NOW'],
    ...people.map((person) => [
      String(person.userId),
      person.fingerprint ?? '-',
      person.since ?? '-',
      person.standing,
      person.signs ? 'yes' : 'no',
      isChanged(person) ? (person.listed ?? '-') : 'the same',
    ]),
  ])
}

function isChanged({ fingerprint, listed }: TrustRow): boolean {
  return listed !== null && listed !== fingerprint
}
