/** `postern outbox` and `postern approve`: calls that are made later, and people's words on them. */
import type { OutboxRow } from '../operators/outbox.ts'
import { refusedError } from '../errors.ts'
import { OperatorCommand } from './operator-command.ts'
import { printList } from './table.ts'
import { printJson } from './terminal.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list what is sent later')
    .example('postern outbox list')
    .asks((sidecar) => sidecar.outboxList(), printEntries),
  showCommand('outbox'),
  new OperatorCommand('drop')
    .description('remove an entry that was not sent')
    .argument('<id>', 'which entry')
    .example('postern outbox drop 0b9e9d0e-3a1a-4a4c-8a51-6d7d0c6b2f11')
    .does((sidecar, id: string) => sidecar.outboxDrop({ id })),
  new OperatorCommand('retry')
    .description('send an entry that was set aside')
    .argument('<id>', 'which entry')
    .option('--readable', 'also where its chat has become readable since')
    .example('postern outbox retry 0b9e9d0e-3a1a-4a4c-8a51-6d7d0c6b2f11')
    .does((sidecar, id: string, { readable = false }: { readable?: boolean }) =>
      sidecar.outboxRetry({ id, readable }),
    ),
]

export const approveCommands = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list calls that need a person’s word')
    .example('postern approve list')
    .asks(async (sidecar) => {
      return (await sidecar.outboxList()).filter(({ approval }) => approval !== null)
    }, printEntries),
  showCommand('approve'),
  new OperatorCommand('refuse')
    .description('refuse such a call')
    .argument('<id>', 'which entry of the outbox')
    .example('postern approve refuse 0b9e9d0e-3a1a-4a4c-8a51-6d7d0c6b2f11')
    .does((sidecar, id: string) => sidecar.approveRefuse({ id })),
]

/** `show` of the outbox, and of the words that people are asked for. */
const showCommand = (group: 'outbox' | 'approve'): OperatorCommand =>
  new OperatorCommand('show')
    .description('print one entry, without its words')
    .argument('<id>', 'which entry')
    .example(`postern ${group} show 0b9e9d0e-3a1a-4a4c-8a51-6d7d0c6b2f11`)
    .asks(async (sidecar, id: string) => {
      const entry = (await sidecar.outboxList()).find((one) => one.id === id)
      if (entry !== undefined) return entry
      throw refusedError(`there is no entry ${id}`, '`postern outbox list` shows them')
    }, printJson)

const printEntries = (entries: readonly OutboxRow[]): void =>
  printList(entries, 'nothing is sent later', {
    ENTRY: ({ id }) => id,
    STATE: ({ state, code }) => (code === null ? state : `${state}: ${code}`),
    CHAT: ({ chatId }) => String(chatId),
    BY: ({ client }) => client ?? 'the bot',
    CODE: ({ approval }) => approval?.code ?? '-',
    DUE: ({ deliverAt }) => deliverAt,
    MESSAGE: ({ messageId, edits }) =>
      edits === null ? String(messageId ?? '-') : `edit ${edits}`,
  })
