/** `postern trust`: which certificates are trusted, and every change of them. */
import { Argument, type OptionValues } from 'commander'
import type { TrustReport, TrustRow } from '../operators/trust.ts'
import { usageError } from '../errors.ts'
import { counted } from '../printable.ts'
import { readChatId, readPersonId, type Switches, type Texts } from './flags.ts'
import { OperatorCommand, withSidecar } from './operator-command.ts'
import { printList } from './table.ts'
import { printNotice, print, printJson } from './terminal.ts'
import { logCommand } from './trust-log.ts'
import { numberCommands } from './trust-number.ts'
import { confirmTyped } from './prompts.ts'
import { readInput } from './files.ts'

const ofPerson = (command: string): OperatorCommand =>
  new OperatorCommand(command).argument('<userId>', 'which person', readPersonId)

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list the people whom Postern knows, with name, fingerprint and standing')
    .option('--changed', 'only people for whom the service now lists another certificate')
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
    .addArgument(
      new Argument('<policy>', 'setting goes back to trust.policy').choices([
        ...POLICIES,
        'setting',
      ]),
    )
    .option('--chat <chatId>', 'in this chat only', readChatId)
    .example('postern trust policy pinned --chat 4711')
    .does((sidecar, name: string, { chat: chatId = null }: { chat?: number | null }) => {
      const policy = POLICIES.find((one) => one === name) ?? null
      return sidecar.trustPolicy({ chatId, policy })
    }),
  importCommand(),
  logCommand(),
]

function printPeople({ policy: ofBot, said, people }: TrustReport, options: OptionValues): void {
  printNotice(`policy: ${ofBot}`)
  for (const { chatId, policy } of said) {
    if (chatId !== null) printNotice(`policy in chat ${chatId}: ${policy}`)
  }
  printList(
    people,
    options['changed'] === true ? 'nobody’s certificate changed' : 'nobody is known yet',
    {
      PERSON: ({ userId }) => String(userId),
      NAME: ({ username }) => (username === null ? '-' : `@${username}`),
      FINGERPRINT: ({ fingerprint }) => fingerprint ?? '-',
      SINCE: ({ since }) => since ?? '-',
      STANDING: ({ standing, authority: by }) => (by === null ? standing : `${standing} (${by})`),
      SIGNS: signsOf,
      'LISTED NOW': listedNow,
    },
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

const isChanged = ({ fingerprint, listed }: TrustRow): boolean =>
  listed !== null && listed !== fingerprint

const POLICIES = ['accept', 'first-use', 'pinned'] as const

type ImportFlags = Switches<'unsigned' | 'unknown' | 'yes' | 'json'> &
  Texts<'by' | 'signature' | 'pattern' | 'notation'>

const MAX_BYTES = 2 ** 20

const importCommand = (): OperatorCommand =>
  new OperatorCommand('import')
    .description('verify people by a signed list of fingerprints')
    .argument('<file>', 'lines of userId,fingerprint, or a keyring; - is stdin')
    .option('--by <file>', 'the certificate of who signed it')
    .option('--signature <file>', 'a detached signature')
    .option('--unsigned', 'nobody signed it')
    .option('--pattern <text>', 'of user ids in a keyring, with {userId} in place of the id')
    .option('--notation <name>', 'the notation whose value is the id')
    .option('--unknown', 'verify people too of whom nothing is known yet')
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .example('postern trust import people.csv --signature people.csv.sig --by ca.asc')
    .runs(async (sources, path: string, o: ImportFlags) => {
      if ((o.by === undefined) !== (o.unsigned === true)) {
        const hint = 'who signed the list decides what it is worth'
        throw usageError('give either --by or --unsigned', hint)
      }
      const read = async (file: string | undefined, what: string) =>
        file === undefined ? null : await readInput(file, { maxBytes: MAX_BYTES, what })
      const list = {
        file: (await read(path, 'a list'))?.toString('base64') ?? '',
        signature: (await read(o.signature, 'a signature'))?.toString('base64') ?? null,
        by: (await read(o.by, 'a certificate'))?.toString() ?? null,
        pattern: o.pattern ?? null,
        notation: o.notation ?? null,
        hasUnknown: o.unknown === true,
      }
      await withSidecar(sources, async (sidecar) => {
        const { lines, signer } = await sidecar.trustImport({ ...list, apply: false })
        if (o.json !== true) for (const line of lines) print(line)
        printNotice(`signed by ${signer ?? 'nobody'}`)
        const asked = { question: 'verify them? (yes): ', answer: 'yes' }
        await confirmTyped(o.yes === true, { ...asked, done: 'nothing was changed' })
        const report = await sidecar.trustImport({ ...list, apply: true })
        if (o.json === true) printJson(report)
        printNotice(`verified ${counted(report.verified, 'person', 'people')}`)
      })
    })
