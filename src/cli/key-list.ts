import { Command } from 'commander'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { putJson, say, table } from './terminal.ts'

/** `postern key list`: the bot's own keys. */
export function keyListCommand(): Command {
  const command = new Command('list')
    .description('list the bot’s keys, newest first')
    .option('--json', 'print them as JSON')
  takeSettings(command, { shown: false })
  return example(command, 'postern key list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const keys = await withSidecar(command, (sidecar) => sidecar.keyList())
  if (json === true) return putJson(keys)
  if (keys.length === 0) return say('there is no key yet; `postern run` makes the first one')
  table([
    ['FINGERPRINT', 'STATE', 'CREATED', 'PUBLISHED', 'RETIRED'],
    ...keys.map((key) => [
      key.fingerprint,
      key.state,
      key.createdAt,
      key.publishedAt ?? '-',
      key.retiredAt ?? '-',
    ]),
  ])
}
