import { Command } from 'commander'
import type { Lift } from '../control/chats.ts'
import { OperatorError } from '../errors.ts'
import { addExample, addSettingFlags, parseId } from './flags.ts'
import { withSidecar } from './connect.ts'
import { print, printNotice } from './terminal.ts'

const WHERE = '`postern chat list` shows the ids of the chats'

interface Options {
  pending?: boolean
  private?: boolean
}

/** `postern chat allow-readable`: the operator says that chats have really become readable. */
export function chatAllowReadableCommand(): Command {
  const command = new Command('allow-readable')
    .description('let readable text go to chats that were protected, until seen protected again')
    .argument('[chatId...]', 'which chats')
    .option('--pending', 'all chats for which readable text was refused since')
    .option('--private', 'the way back to a readable bot: all private chats, once it has no key')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern chat allow-readable 4711 4712').action(allow)
}

async function allow(chatIds: string[], options: Options, command: Command): Promise<void> {
  const lift = read(chatIds, options)
  const done = await withSidecar(command, (sidecar) => sidecar.chatAllowReadable(lift))
  printNotice(done.message)
  if (done.lifted.length > 0) print(done.lifted.join('\n'))
}

function read(texts: string[], options: Options): Lift {
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
  return { chatIds: texts.map((text) => parseId(text, 'chat', WHERE)) }
}
