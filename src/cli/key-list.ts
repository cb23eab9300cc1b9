import { Command } from 'commander'
import type { KeyRow } from '../control/keys.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printTable } from './table.ts'
import { printJson, printNotice } from './terminal.ts'

/** `postern key list`: the bot's own keys. */
export function keyListCommand(): Command {
  const command = new Command('list')
    .description('list the bot’s keys, newest first')
    .option('--json', 'print them as JSON')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern key list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const keys = await withSidecar(command, (sidecar) => sidecar.keyList())
  if (json === true) return printJson(keys)
  if (keys.length === 0)
    return printNotice('there is no key yet; `postern run` makes the first one')
  printTable([
    ['FINGERPRINT', 'STATE', 'PUBLISHED', 'RETIRED', 'OPENS', 'OPENED', 'LAST OPENED'],
    ...keys.map((key) => [
      key.fingerprint,
      key.state,
      minute(key.publishedAt),
      minute(key.retiredAt),
      opens(key),
      `${key.openedMessages} messages, ${key.openedMedia} files`,
      minute(key.lastOpenedAt),
    ]),
  ])
  if (keys.some(isOver))
    printNotice('what opens no more can be deleted: `postern key delete <fingerprint>`')
}

const isOver = ({ state, opens: now }: KeyRow): boolean => state === 'retired' && !now

function opens({ opens: now, opensUntil }: KeyRow): string {
  if (!now) return 'no more'
  return opensUntil === null ? 'yes' : `until ${minute(opensUntil)}`
}

/** A time for people, to the minute, UTC. */
function minute(time: string | null): string {
  return time === null ? '-' : `${time.slice(0, 16).replace('T', ' ')}Z`
}
