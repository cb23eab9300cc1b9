/** `postern client`: who else may call the bot's door, and what each may do there. */
import { AddedClient, ClientName, RIGHTS } from '../config/client-entry.ts'
import type { ClientRow, MadeToken } from '../operators/clients.ts'
import { refusedError, usageError } from '../errors.ts'
import type { Switches, Texts } from './flags.ts'
import { withSidecar, OperatorCommand, printDone, type JsonFlag } from './operator-command.ts'
import { printList } from './table.ts'
import { print, printJson, printNotice } from './terminal.ts'
import { printJournal } from './trust-log.ts'

/** The flags of `client add`, as typed. */
type AddFlags = Texts<
  'chats' | 'persons' | 'rate' | 'expires' | 'maxChars' | 'certificate' | 'outbox'
> &
  Switches<'buttons' | 'files'> & { may: string }

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('add')
    .description('add a client, and print its token once')
    .argument('<name>', 'its name, in the log and in commands', readName)
    .requiredOption('--may <rights>', `what it may do: ${RIGHTS.join(', ')}`)
    .option('--chats <chats>', 'where: ids of chats, or all')
    .option('--persons <ids>', 'people in whose private chats it may do so too')
    .option('--rate <rate>', 'how many sends and edits, such as 5/min (s, min, h, d)')
    .option('--expires <when>', 'until when: 90d, or a date such as 2027-01-31')
    .option('--max-chars <count>', 'how long a text may be, in UTF-16 units')
    .option('--buttons', 'it may send buttons, which are never encrypted')
    .option('--outbox <when>', 'sends and edits are made later: asked, or always')
    .option('--no-files', 'it may fetch no files')
    .option('--certificate <sha256>', 'it has this TLS certificate, and no token')
    .example('postern client add reporter --may send --chats -9100000003 --rate 5/min')
    .asks((sidecar, name: string, flags: AddFlags) => {
      return sidecar.clientAdd(readClient(name, flags))
    }, printToken),
  new OperatorCommand('list')
    .description('list the clients')
    .example('postern client list')
    .asks((sidecar) => sidecar.clientList(), printClients),
  ofClient('show')
    .description('print what a client may do')
    .example('postern client show reporter')
    .asks(async (sidecar, name: string) => {
      const client = (await sidecar.clientList()).find((one) => one.name === name)
      if (client !== undefined) return client
      throw refusedError(`there is no client ${name}`, '`postern client list` shows them')
    }, printJson),
  ofClient('remove')
    .description('remove a client')
    .example('postern client remove reporter')
    .does((sidecar, name: string) => sidecar.clientRemove({ name })),
  ofClient('confirm')
    .description('let a client call again that is suspended since a backup was restored')
    .example('postern client confirm reporter')
    .does((sidecar, name: string) => sidecar.clientConfirm({ name })),
  ofClient('rotate')
    .description('give a client another token, and print it')
    .example('postern client rotate reporter')
    .asks((sidecar, name: string) => sidecar.clientRotate({ name }), printToken),
  ofClient('log')
    .description('print changes and refusals of a client')
    .option('--json', 'print one JSON object per line')
    .example('postern client log reporter')
    .runs((sources, name: string, { json = false }: JsonFlag) =>
      withSidecar(sources, async (sidecar) => {
        await printJournal((range) => sidecar.clientLog({ name, ...range }), { json })
      }),
    ),
]

const ofClient = (command: string): OperatorCommand =>
  new OperatorCommand(command).argument('<name>', 'which client', readName)

function readName(text: string): string {
  const parsed = ClientName.safeParse(text)
  if (parsed.success) return parsed.data
  throw usageError(`the name ${text}: ${parsed.error.issues[0]?.message}`)
}

function readClient(name: string, { expires, maxChars, ...flags }: AddFlags) {
  const given = {
    name,
    ...flags,
    may: listOf(flags.may),
    chats: listOf(flags.chats).map((chat) => (/^-?\d+$/.test(chat) ? Number(chat) : chat)),
    persons: listOf(flags.persons).map(Number),
    ...(expires !== undefined && { expires: readExpiry(expires) }),
    ...(maxChars !== undefined && { maxChars: Number(maxChars) }),
  }
  // Beside its own flags the command has those of all settings.
  const parsed = AddedClient.strip().safeParse(given)
  if (parsed.success) return parsed.data
  const { path = [], message } = parsed.error.issues[0] ?? {}
  throw usageError(`--${String(path[0]).replace('maxChars', 'max-chars')}: ${message}`)
}

const listOf = (text = ''): string[] =>
  text.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))

/** `90d` counts from now. */
const readExpiry = (text: string): string =>
  text.replace(/^\d{1,5}d$/, (d) => new Date(Date.now() + Number.parseInt(d) * 864e5).toISOString())

function printToken({ name, token, refused }: MadeToken): void {
  for (const line of refused) printNotice(line)
  if (token === null) return printNotice(`client ${name} is known by its certificate`)
  printDone({ message: `the token of client ${name}; it is not shown again` })
  print(token)
}

const printClients = (clients: readonly ClientRow[]): void =>
  printList(clients, 'there are no clients: only the bot’s own token', {
    CLIENT: ({ name, isSuspended }) => (isSuspended ? `${name} (suspended)` : name),
    MAY: ({ may }) => may.join(', '),
    CHATS: ({ chats, persons }) =>
      [...chats, ...persons.map((id) => `person ${id}`)].join(', ') || 'none',
    RATE: ({ rate }) => (rate === null ? '-' : `${rate.calls} in ${rate.perMs / 1000} s`),
    EXPIRES: ({ expiresAt }) => expiresAt ?? '-',
    ADDED: ({ createdAt }) => createdAt ?? 'in the settings',
  })
