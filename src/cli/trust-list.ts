import { Command } from 'commander'
import type { TrustRow } from '../control/trust.ts'
import { takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printList } from './table.ts'
import { printJson, printNotice } from './terminal.ts'

interface TrustListFlags {
  changed?: boolean
  json?: boolean
}

/** `postern trust list`: everybody whom we know, with fingerprint and standing. */
export function trustListCommand(): Command {
  const command = new Command('list')
    .description('list the people whom Postern knows, with name, fingerprint and standing')
    .option('--changed', 'only people for whom the service now lists another certificate')
    .option('--json', 'print them as JSON')
  return takeSettings(command, 'postern trust list --changed').action(list)
}

async function list({ changed, json }: TrustListFlags, command: Command): Promise<void> {
  const report = await withSidecar(command, (sidecar) => sidecar.trustList())
  const people = changed === true ? report.people.filter(isChanged) : report.people
  if (json === true) return printJson({ ...report, people })
  printNotice(`policy: ${report.policy}`)
  for (const { chatId, policy } of report.said) {
    if (chatId !== null) printNotice(`policy in chat ${chatId}: ${policy}`)
  }
  if (people.length === 0)
    return printNotice(changed === true ? 'nobody’s certificate changed' : 'nobody is known yet')
  printList(
    ['PERSON', 'NAME', 'FINGERPRINT', 'SINCE', 'STANDING', 'SIGNS', 'LISTED NOW'],
    people.map((person) => [
      String(person.userId),
      person.username === null ? '-' : `@${person.username}`,
      person.fingerprint ?? '-',
      person.since ?? '-',
      person.standing,
      signsOf(person),
      listedNow(person),
    ]),
  )
}

function signsOf({ signs, signsFiles }: TrustRow): string {
  const signed = [signs ? 'words' : '', signsFiles ? 'files' : ''].filter(Boolean)
  return signed.length === 0 ? 'no' : signed.join(', ')
}

function listedNow(person: TrustRow): string {
  const { listed, sharedWith } = person
  if (listed === null) return 'none'
  const text = isChanged(person) ? listed : 'the same'
  return sharedWith.length === 0 ? text : `${text}, shared with ${sharedWith.join(', ')}`
}

function isChanged({ fingerprint, listed }: TrustRow): boolean {
  return listed !== null && listed !== fingerprint
}
