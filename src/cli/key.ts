/** `postern key list`, `show`, `generate` and `publish`. */
import { Command } from 'commander'
import type { KeyRow } from '../control/keys.ts'
import { withSidecar } from './connect.ts'
import { takeSettings } from './flags.ts'
import { printList } from './table.ts'
import { print, printJson, printNotice } from './terminal.ts'

/** `postern key list`: the bot's own keys. */
export function keyListCommand(): Command {
  const command = new Command('list')
    .description('list the bot’s keys, newest first')
    .option('--json', 'print them as JSON')
  return takeSettings(command, 'postern key list --json').action(list)
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  const keys = await withSidecar(command, (sidecar) => sidecar.keyList())
  if (json === true) return printJson(keys)
  if (keys.length === 0)
    return printNotice('there is no key yet; `postern run` makes the first one')
  printList(
    ['FINGERPRINT', 'STATE', 'PUBLISHED', 'RETIRED', 'OPENS', 'OPENED', 'LAST OPENED'],
    keys.map((key) => [
      key.fingerprint,
      key.state,
      minute(key.publishedAt),
      minute(key.retiredAt),
      opens(key),
      `${key.openedMessages} messages, ${key.openedMedia} files`,
      minute(key.lastOpenedAt),
    ]),
  )
  if (keys.some(isOver))
    printNotice(
      'keys that no longer open messages can be deleted: `postern key delete <fingerprint>`',
    )
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

/** `postern key show`: a certificate, to compare fingerprints with or to import elsewhere. */
export function keyShowCommand(): Command {
  const command = new Command('show')
    .description('print the certificate of a key, armored')
    .argument('[fingerprint]', 'which key; the active one by default')
    .option('--json', 'print fingerprint, state and certificate as JSON')
  return takeSettings(command, 'postern key show | gpg --import').action(show)
}

async function show(
  fingerprint: string | undefined,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  const key = await withSidecar(command, (sidecar) => sidecar.keyShow({ fingerprint }))
  if (json === true) return printJson(key)
  printNotice(`${key.fingerprint}, ${key.state}`)
  print(key.certificate)
}

/** `postern key generate`: the bot's first key, before anything is published. */
export function keyGenerateCommand(): Command {
  const command = new Command('generate').description(
    'make the bot’s first key without publishing it, and print its fingerprint',
  )
  return takeSettings(command, 'postern key generate').action(generate)
}

async function generate(_options: unknown, command: Command): Promise<void> {
  const done = await withSidecar(command, (sidecar) => sidecar.keyGenerate(), {
    mayCreateStore: true,
  })
  printNotice(done.message)
  print(done.fingerprint)
}

/** `postern key publish`: publishes our key, when the sidecar does not do it by itself. */
export function keyPublishCommand(): Command {
  const command = new Command('publish')
    .description('publish the bot’s key at the service, and print its fingerprint')
    .option('--replace', 'replace a key at the service that is not ours')
  return takeSettings(command, 'postern key publish --replace').action(publish)
}

async function publish({ replace }: { replace?: boolean }, command: Command): Promise<void> {
  const done = await withSidecar(command, (sidecar) =>
    sidecar.keyPublish({ replace: replace === true }),
  )
  printNotice(done.message)
  print(done.fingerprint)
}
