/** `postern chat correct-kind`: the operator takes back a kind that the service named wrongly. */
import { Command, Option } from 'commander'
import { withSidecar } from './connect.ts'
import { addExample, addSettingFlags, parseId } from './flags.ts'
import { confirmTyped } from './prompts.ts'
import { printNotice } from './terminal.ts'

interface CorrectKindFlags {
  to: 'group' | 'channel'
  yes?: boolean
}

export function chatCorrectKindCommand(): Command {
  const command = new Command('correct-kind')
    .description('correct a chat’s kind that was learned wrongly')
    .argument('<chatId>', 'which chat')
    .addOption(
      new Option('--to <kind>', 'what it really is')
        .choices(['group', 'channel'])
        .makeOptionMandatory(),
    )
    .option('--yes', 'do not ask')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern chat correct-kind 4711 --to group').action(correct)
}

async function correct(text: string, options: CorrectKindFlags, command: Command): Promise<void> {
  const chatId = parseId(text, 'chat', '`postern chat list` shows the ids of the chats')
  const { to: kind } = options
  printNotice(
    `chat ${chatId} will count as a ${kind}: it is not protected as a private chat any more, whose private chat it was is forgotten, and members of the ${kind} are sealed to and trusted; its latch stays`,
  )
  const question = 'type the id of the chat to correct it: '
  const answer = String(chatId)
  const yes = '--yes corrects it without asking'
  const done = 'nothing was changed'
  if (options.yes !== true) await confirmTyped({ question, answer, done, yes })
  const corrected = await withSidecar(command, (sidecar) =>
    sidecar.chatCorrectKind({ chatId, kind }),
  )
  printNotice(corrected.message)
}
