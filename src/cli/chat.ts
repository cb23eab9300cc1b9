/** `postern chat`: the bot's chats in the sidecar's memory. */
import type { ChatRow, Lift } from '../operators/chats.ts'
import { usageError } from '../errors.ts'
import { chatShowCommand } from './chat-show.ts'
import { readChatId, readPersonId, type Switches } from './flags.ts'
import { withSidecar, OperatorCommand, printDone } from './operator-command.ts'
import { confirmTyped } from './prompts.ts'
import { printList } from './table.ts'
import { isInteractive, print, printNotice } from './terminal.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list the known chats with kind, mode, latch, refusals and person')
    .example('postern chat list --json')
    .asks((sidecar) => sidecar.chatList(), printChats),
  chatShowCommand(),
  new OperatorCommand('allow-readable')
    .description(
      'allow readable text in chats that were protected, until they are seen protected again',
    )
    .argument('[chatId...]', 'which chats')
    .option('--pending', 'all chats for which readable text was refused')
    .option('--private', 'all private chats, once the bot has no key any more')
    .option('--yes', 'do not ask')
    .example('postern chat allow-readable 4711 4712')
    .runs(async (sources, chatIds: string[], options: LiftFlags) => {
      const lift = readLift(chatIds, options)
      const done = await withSidecar(sources, async (sidecar) => {
        await confirmLift(await sidecar.chatList(), lift, options.yes === true)
        return await sidecar.chatAllowReadable(lift)
      })
      printNotice(done.message)
      if (done.lifted.length > 0) print(done.lifted.join('\n'))
    }),
  new OperatorCommand('bind')
    .description('correct whose private chat it is, when the service first named the wrong person')
    .argument('<chatId>', 'which private chat', readChatId)
    .argument('<userId>', 'which person it belongs to', readPersonId)
    .example('postern chat bind 4711 815')
    .does((sidecar, chatId: number, userId: number) => sidecar.chatBind({ chatId, userId })),
  new OperatorCommand('correct-kind')
    .description('correct a chat’s kind that was learned wrongly')
    .argument('<chatId>', 'which chat', readChatId)
    .choice('--to <group|channel>', 'what it really is', ['group', 'channel'], true)
    .option('--yes', 'do not ask')
    .example('postern chat correct-kind 4711 --to group')
    .runs(async (sources, chatId: number, { to: kind, yes = false }: CorrectKindFlags) => {
      printNotice(
        `chat ${chatId} will count as a ${kind}: it is not protected as a private chat any more, whose private chat it was is forgotten, and members of the ${kind} are sealed to and trusted; its latch stays`,
      )
      const done = 'nothing was changed'
      const question = 'type the id of the chat to correct it: '
      await confirmTyped(yes, { question, answer: String(chatId), done })
      printDone(await withSidecar(sources, (sidecar) => sidecar.chatCorrectKind({ chatId, kind })))
    }),
]

type CorrectKindFlags = { to: 'group' | 'channel'; yes?: boolean }

type LiftFlags = Switches<'pending' | 'private' | 'yes'>

const printChats = (chats: readonly ChatRow[]): void =>
  printList(chats, 'no chat is known yet', {
    CHAT: ({ id }) => String(id),
    KIND: ({ kind }) => kind,
    MODE: ({ mode, sealed }) => mode ?? (sealed ? 'encrypted' : '?'),
    LATCHED: ({ latched, sealed }) => (latched ? 'yes' : sealed ? 'by key' : 'no'),
    REFUSED: ({ refused }) => (refused ? 'yes' : 'no'),
    PERSON: ({ personId }) => String(personId ?? '-'),
  })

/**
 * Prints which chats may become readable, and asks at a terminal. Elsewhere, named groups need no
 * confirmation; private chats need --yes, since people's messages there are at stake.
 */
async function confirmLift(rows: readonly ChatRow[], lift: Lift, isSure: boolean): Promise<void> {
  const isMeant = ({ id, kind, refused }: ChatRow): boolean =>
    'chatIds' in lift ? lift.chatIds.includes(id) : 'private' in lift ? kind === 'private' : refused
  const latched = rows.filter((row) => row.latched && isMeant(row))
  const isPrivate = 'private' in lift || latched.some(({ kind }) => kind === 'private')
  if (latched.length === 0 && !isPrivate) return
  const which =
    'private' in lift ? 'all private chats' : `chat ${latched.map(({ id }) => id).join(', ')}`
  printNotice(
    `readable text will be allowed in ${which}, wherever the service shows no protection again`,
  )
  const asked = { question: 'type yes to allow it: ', answer: 'yes', done: 'nothing was lifted' }
  await confirmTyped(isSure || (!isPrivate && !isInteractive()), asked)
}

function readLift(chatIds: string[], options: LiftFlags): Lift {
  const given = [chatIds.length > 0, options.pending === true, options.private === true]
  if (given.filter(Boolean).length !== 1) {
    const hint = '`postern chat list` shows the chats and which of them were refused'
    throw usageError('expected chat ids, or --pending, or --private, and only one of these', hint)
  }
  if (options.pending === true) return { pending: true }
  if (options.private === true) return { private: true }
  return { chatIds: chatIds.map(readChatId) }
}
