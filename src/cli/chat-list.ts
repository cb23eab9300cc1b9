import { Command } from 'commander'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printTable } from './table.ts'
import { printJson, printNotice } from './terminal.ts'

/** `postern chat list`: what is known of the bot's chats. */
export function chatListCommand(): Command {
  const command = new Command('list')
    .description(
      'list the chats that were seen: whose a private one is, which are latched or were refused',
    )
    .option('--json', 'print them as JSON')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern chat list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const chats = await withSidecar(command, (sidecar) => sidecar.chatList())
  if (json === true) return printJson(chats)
  if (chats.length === 0) return printNotice('no chat was seen yet')
  printTable([
    ['CHAT', 'KIND', 'MODE', 'LATCHED', 'REFUSED', 'PERSON'],
    ...chats.map(({ id, kind, personId, mode, latched, refused }) => [
      String(id),
      kind,
      mode ?? '?',
      latched ? 'yes' : 'no',
      refused ? 'yes' : 'no',
      personId === null ? '-' : String(personId),
    ]),
  ])
}
