/** `postern chat`: what is known of the bot's chats. */
import { Command } from 'commander'
import type { Lift } from '../control/chats.ts'
import { OperatorError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { parseId, takeSettings } from './flags.ts'
import { printList } from './table.ts'
import { print, printJson, printNotice } from './terminal.ts'

const WHERE_CHAT_IDS = '`postern chat list` shows the ids of the chats'

/** `postern chat list`: what is known of the bot's chats. */
export function chatListCommand(): Command {
  const command = new Command('list')
    .description('list the known chats with kind, mode, latch, refusals and person')
    .option('--json', 'print them as JSON')
  return takeSettings(command, 'postern chat list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const chats = await withSidecar(command, (sidecar) => sidecar.chatList())
  if (json === true) return printJson(chats)
  if (chats.length === 0) return printNotice('no chat is known yet')
  printList(
    ['CHAT', 'KIND', 'MODE', 'LATCHED', 'REFUSED', 'PERSON'],
    chats.map(({ id, kind, personId, mode, latched, refused }) => [
      String(id),
      kind,
      mode ?? '?',
      latched ? 'yes' : 'no',
      refused ? 'yes' : 'no',
      personId === null ? '-' : String(personId),
    ]),
  )
}

interface AllowReadableFlags {
  pending?: boolean
  private?: boolean
}

/** `postern chat allow-readable`: the operator says that chats have really become readable. */
export function chatAllowReadableCommand(): Command {
  const command = new Command('allow-readable')
    .description(
      'allow readable text in chats that were protected, until they are seen protected again',
    )
    .argument('[chatId...]', 'which chats')
    .option('--pending', 'all chats for which readable text was refused')
    .option('--private', 'all private chats, once the bot has no key any more')
  return takeSettings(command, 'postern chat allow-readable 4711 4712').action(allow)
}

async function allow(
  chatIds: string[],
  options: AllowReadableFlags,
  command: Command,
): Promise<void> {
  const lift = readLift(chatIds, options)
  const done = await withSidecar(command, (sidecar) => sidecar.chatAllowReadable(lift))
  printNotice(done.message)
  if (done.lifted.length > 0) print(done.lifted.join('\n'))
}

function readLift(texts: string[], options: AllowReadableFlags): Lift {
  const given = [texts.length > 0, options.pending === true, options.private === true]
  if (given.filter(Boolean).length !== 1) {
    throw new OperatorError(
      'usage',
      'expected chat ids, or --pending, or --private, and only one of these',
      '`postern chat list` shows the chats and which of them were refused',
    )
  }
  if (options.pending === true) return { pending: true }
  if (options.private === true) return { private: true }
  return { chatIds: texts.map((text) => parseId(text, 'chat', WHERE_CHAT_IDS)) }
}

/** `postern chat bind`: the operator says whose a private chat is, where it was learned wrongly. */
export function chatBindCommand(): Command {
  const command = new Command('bind')
    .description('correct whose private chat it is, when the service first named the wrong person')
    .argument('<chatId>', 'which private chat')
    .argument('<userId>', 'which person it belongs to')
  return takeSettings(command, 'postern chat bind 4711 815').action(bind)
}

async function bind(
  chat: string,
  person: string,
  _options: unknown,
  command: Command,
): Promise<void> {
  const chatId = parseId(chat, 'chat', WHERE_CHAT_IDS)
  const userId = parseId(person, 'person', '`postern trust list` shows the ids of the people')
  const bound = await withSidecar(command, (sidecar) => sidecar.chatBind({ chatId, userId }))
  printNotice(bound.message)
}
