import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { readId } from './ids.ts'
import { withSidecar } from './reach.ts'
import { say } from './terminal.ts'

/** `postern chat bind`: the operator says whose a private chat is, where it was learned wrongly. */
export function chatBindCommand(): Command {
  const command = new Command('bind')
    .description('say whose a private chat is, where the service had named the wrong person first')
    .argument('<chatId>', 'which private chat')
    .argument('<userId>', 'whose it is')
  takeSettings(command, { shown: false })
  return example(command, 'postern chat bind 4711 815').action(bind)
}

async function bind(
  chat: string,
  person: string,
  _options: unknown,
  command: Command,
): Promise<void> {
  const chatId = readId(chat, 'chat', '`postern chat list` shows the ids of the chats')
  const userId = readId(person, 'person', '`postern trust list` shows the ids of the people')
  const word = { say: 'person' as const, chatId, userId }
  say((await withSidecar(command, (sidecar) => sidecar.trustSay(word))).message)
}
