import { isIPv6 } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import { sandboxControlToken, userRuntimeFolders } from '../config/sources.ts'
import { isLoopback } from '../util/local-door.ts'
import type { Page, Sandbox } from '../sandbox/create.ts'
import { readPort, withLimitFlags, type LimitFlags, type Switches, type Texts } from './flags.ts'
import { PosternCommand } from './help.ts'
import { readNames } from './sandbox-names.ts'
import { print, printJsonLine, printNotice } from './terminal.ts'
import { refuseStart, servePage } from './page.ts'
import { announceSandbox } from '../operators/running-sandboxes.ts'
import { sandboxActionCommands, sandboxPlayCommand } from './sandbox-actions.ts'
import { worldCommands } from './sandbox-client.ts'
import { sandboxWatchCommand } from './sandbox-watch.ts'
import { readLimits, readSeedFile } from './seed-file.ts'
import { shutdownRequested } from './signals.ts'
import { printTable } from './table.ts'

type SandboxFlags = LimitFlags &
  Switches<'open' | 'json' | 'seedSchema' | 'localWebhooks' | 'still'> &
  Texts<'seed' | 'data' | 'host'> & {
    port: number
    controlPort: number
    pagePort?: number
    allowedHost: string[]
    openapi?: 'control' | 'bot'
  }

/** `postern sandbox`: the service alone, on this machine, until it is asked to stop. */
export function sandboxCommand(): PosternCommand {
  const command = new PosternCommand('sandbox')
    .option('--port <number>', 'port of the API; 0 is any free one', readPort, 0)
    .option('--control-port <number>', 'port of the control API', readPort, 0)
    .option('--page-port <number>', 'port of the page; any free one by default', readPort)
    .option('--open', 'open the page in your browser')
    .option('--host <address>', 'where to listen (127.0.0.1); --allowed-host names it', named)
    .addOption(
      new Option('--allowed-host <name>')
        .argParser((name: string, others: string[]) => [...others, hostName(name)])
        .default([])
        .hideHelp(),
    )
    .option('--seed <file>', 'begin with the world of a YAML or JSON file', named)
    .option('--data <file>', 'keep the world in a file, and go on with it', named)
    .option('--seed-schema', 'print the JSON schema of a seed file, and exit')
    .choice('--openapi <api>', 'print the OpenAPI document of an API, and exit', ['control', 'bot'])
    .option('--json', 'print one line of JSON once it listens')
    .option('--local-webhooks', 'allow webhooks over http and at any address')
    .option('--still', 'a clock that only `advance` of the control moves')
    .usage('[options] | --seed-schema | --openapi control|bot')
  const people = [...sandboxActionCommands(), sandboxWatchCommand(), sandboxPlayCommand()]
  for (const one of [...worldCommands(), ...people]) command.addCommand(one)
  return withLimitFlags(command).example('postern sandbox --port 8800').action(run)
}

async function run(flags: SandboxFlags): Promise<void> {
  const { port, controlPort, host, allowedHost: allowedHosts, seed, data, rates } = flags
  if (flags.seedSchema === true) {
    const { seedSchema } = await import('../sandbox/seed/schema.ts')
    return print(seedSchema())
  }
  if (flags.openapi !== undefined) return print(await openapi(flags))
  const controlToken = sandboxControlToken()
  const stop = shutdownRequested()
  const file = seed === undefined ? null : readSeedFile(seed)
  const given = { port, controlPort, host, allowedHosts, controlToken, data, rates }
  const { createSandbox } = await import('../sandbox/create.ts')
  await using sandbox = await createSandbox({
    ...given,
    limits: await readLimits(flags.limits),
    world: file?.content,
    phones: 'all',
    clock: flags.still === true ? 'still' : undefined,
    webhooks: flags.localWebhooks === true ? 'local' : 'public',
    onStepError: ({ action, reason }) =>
      printNotice(`a \`${action}\` of the seed could not happen: ${reason}`),
  }).catch((error: unknown) => refuseStart(error, file, '--port or --control-port'))
  if (!sandbox.isNew) {
    const unused = seed === undefined ? '' : '; the seed is not applied to it'
    printNotice(`the world of ${data} goes on${unused}`)
  }
  const page = await servePageOf(sandbox, flags)
  const { controlUrl } = sandbox
  using _ = announceSandbox(userRuntimeFolders(), { command: 'sandbox', controlUrl, dataDir: null })
  if (flags.json === true) {
    const { url, bots, people, chats } = sandbox
    printJsonLine({ url, controlUrl, pageUrl: page?.url ?? null, bots, people, chats })
  } else await describe(sandbox, page)
  await stop
}

/** As JSON. Its servers are where the ports that were chosen would be, else 8800 and 8801. */
async function openapi({ openapi: api, port, controlPort }: SandboxFlags): Promise<string> {
  const at = (chosen: number, other: number): string => `http://127.0.0.1:${chosen || other}`
  const document =
    api === 'control'
      ? (await import('../sandbox/openapi/control.ts')).controlDocument(at(controlPort, 8801))
      : (await import('../sandbox/openapi/bot.ts')).botDocument(at(port, 8800))
  return JSON.stringify(document, null, 2)
}

/** Serves the page; on another address than loopback only where it is asked for. */
async function servePageOf(
  sandbox: Sandbox,
  { pagePort: port, open, host, allowedHost }: SandboxFlags,
): Promise<Page | null> {
  const isLocal = host === undefined || isLoopback(host)
  if (!isLocal && port === undefined && open !== true) return null
  return await servePage(sandbox, { open, port, host, allowedHosts: allowedHost })
}

async function describe(sandbox: Sandbox, page: Page | null): Promise<void> {
  const names = await readNames(sandbox.control)
  printTable([
    ['api', '', sandbox.url],
    ['control', '', sandbox.controlUrl],
    page && ['page', '', page.url],
    ...sandbox.bots.map(({ username, token }) => ['bot', username, token]),
    ...sandbox.people.map(({ id, username }) => ['person', username, String(id)]),
    ...names.chats.map((chat) => [
      'chat',
      names.nameOf(chat),
      `${chat.id}, ${chat.kind}, ${chat.trueMode}`,
    ]),
  ])
  printNotice(
    `the sandbox runs${page === null ? '' : `; play with it in a browser: ${page.url}`}; Ctrl-C ends it`,
  )
}

function named(name: string): string {
  if (name === '') throw new InvalidArgumentError('Expected a name.')
  return name
}

function hostName(name: string): string {
  const isName = /^[a-z0-9_]([a-z0-9._-]*[a-z0-9._])?$/i.test(name)
  if (isName || isIPv6(name.replace(/^\[(.*)\]$/, '$1'))) return name
  throw new InvalidArgumentError('Expected a name or an address, without scheme, port and path.')
}
