/** `postern trust`: which certificates are trusted, and every change of them. */
import type { TrustReport, TrustRow } from '../operators/trust.ts'
import { usageError } from '../errors.ts'
import { idReader } from './flags.ts'
import { OperatorCommand } from './operator-command.ts'
import { printList } from './table.ts'
import { printNotice } from './terminal.ts'
import { importCommand } from './trust-import.ts'
import { logCommand } from './trust-log.ts'
import { numberCommands } from './trust-number.ts'

const readPersonId = idReader(
  'person',
  '`postern trust list` shows the ids of the people whom we know',
)

const ofPerson = (command: string): OperatorCommand =>
  new OperatorCommand(command).argument('<userId>', 'which person', readPersonId)

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list the people whom Postern knows, with name, fingerprint and standing')
    .option('--changed', 'only people for whom the service now lists another certificate')
    .option('--json', 'print them as JSON')
    .example('postern trust list --changed')
    .asks(async (sidecar, { changed }: { changed?: boolean }) => {
      const report = await sidecar.trustList()
      return changed === true ? { ...report, people: report.people.filter(isChanged) } : report
    }, printPeople),
  ...numberCommands(),
  ofPerson('accept')
    .description('accept the certificate that is listed for a person now, and start over with them')
    .option('--fingerprint <hex>', 'only if this is the one that is listed')
    .example('postern trust accept 4711')
    .does((sidecar, userId: number, { fingerprint }: { fingerprint?: string }) =>
      sidecar.trustAccept({ userId, fingerprint }),
    ),
  ofPerson('verify')
    .description('trust only this fingerprint for a person, after you compared it with them')
    .argument('<fingerprint...>', '40 hexadecimal characters; spaces are ignored')
    .example('postern trust verify 4711 D74D1C290E2CA5A56C7C8FF8B2B144D64D3C43B5')
    .does((sidecar, userId: number, parts: string[]) =>
      sidecar.trustVerify({ userId, fingerprint: parts.join('') }),
    ),
  ofPerson('block')
    .description('seal nothing to a person and trust nothing from them, until they are accepted')
    .example('postern trust block 4711')
    .does((sidecar, userId: number) => sidecar.trustBlock({ userId })),
  new OperatorCommand('policy')
    .description('set what happens when a certificate changes, over the setting trust.policy')
    .argument(
      '<policy>',
      'accept, first-use or pinned; setting goes back to trust.policy',
      readPolicy,
    )
    .option(
      '--chat <chatId>',
      'in this chat only',
      idReader('chat', '`postern chat list` shows them'),
    )
    .example('postern trust policy pinned --chat 4711')
    .does((sidecar, policy: Policy | null, { chat: chatId = null }: { chat?: number | null }) =>
      sidecar.trustPolicy({ chatId, policy }),
    ),
  importCommand(),
  logCommand(),
]

function printPeople(
  { policy: ofBot, said, people }: TrustReport,
  { changed }: { changed?: boolean },
): void {
  printNotice(`policy: ${ofBot}`)
  for (const { chatId, policy } of said) {
    if (chatId !== null) printNotice(`policy in chat ${chatId}: ${policy}`)
  }
  printList(people, changed === true ? 'nobody’s certificate changed' : 'nobody is known yet', {
    PERSON: ({ userId }) => String(userId),
    NAME: ({ username }) => (username === null ? '-' : `@${username}`),
    FINGERPRINT: ({ fingerprint }) => fingerprint ?? '-',
    SINCE: ({ since }) => since ?? '-',
    STANDING: ({ standing, authority: by }) => (by === null ? standing : `${standing} (${by})`),
    SIGNS: signsOf,
    'LISTED NOW': listedNow,
  })
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

const POLICIES = ['accept', 'first-use', 'pinned'] as const
type Policy = (typeof POLICIES)[number]

function readPolicy(text: string): Policy | null {
  if (text === 'setting') return null
  const policy = POLICIES.find((known) => known === text)
  if (policy !== undefined) return policy
  throw usageError('there is no such policy', `one of ${POLICIES.join(', ')}, or setting`)
}
