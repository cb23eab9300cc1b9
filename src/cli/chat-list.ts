import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { table } from './table.ts'
import { putJson, say } from './terminal.ts'

/** `postern chat list`: what is known of the bot's chats. */
export function chatListCommand(): Command {
  const command = new Command('list')
    .description('list the chats that were seen, whether each is latched or was refused')
    .option('--json', 'print them as JSON')
  takeSettings(command, { shown: false })
  return example(command, 'postern chat list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const chats = await withSidecar(command, (sidecar) => sidecar.chatList())
  if (json === true) return putJson(chats)
  if (chats.length === 0) return say('no chat was seen yet')
  table([
    ['CHAT', 'KIND', 'MODE', 'LATCHED', 'REFUSED'],
    ...chats.map(({ id, kind, mode, latched, refused }) => [
      String(id),
      kind ?? '?',
      mode ?? '?',
      latched ? 'yes' : 'no',
      refused ? 'yes' : 'no',
    ]),
  ])
}
