import { Command } from 'commander'
import { withSidecar } from './connect.ts'
import { addExample, addSettingFlags, parseId } from './flags.ts'
import { printNotice } from './terminal.ts'

/** `postern chat bind`: the operator says whose a private chat is, where it was learned wrongly. */
export function chatBindCommand(): Command {
  const command = new Command('bind')
    .description('say whose a private chat is, where the service had named the wrong person first')
    .argument('<chatId>', 'which private chat')
    .argument('<userId>', 'whose it is')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern chat bind 4711 815').action(bind)
}

async function bind(
  chat: string,
  person: string,
  _options: unknown,
  command: Command,
): Promise<void> {
  const chatId = parseId(chat, 'chat', '`postern chat list` shows the ids of the chats')
  const userId = parseId(person, 'person', '`postern trust list` shows the ids of the people')
  const bound = await withSidecar(command, (sidecar) => sidecar.chatBind({ chatId, userId }))
  printNotice(bound.message)
}
