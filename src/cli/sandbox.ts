import { Command, InvalidArgumentError } from 'commander'
import type { Sandbox } from '../sandbox/create.ts'
import { OperatorError } from '../errors.ts'
import { SeedError } from '../sandbox/seed/problem.ts'
import { addExample } from './flags.ts'
import { readSeedFile, type SeedFile } from './seed-file.ts'
import { shutdownRequested } from './shutdown.ts'
import { printTable } from './table.ts'
import { print, printNotice } from './terminal.ts'

interface SandboxFlags {
  port: number
  controlPort: number
  seed?: string
  data?: string
  json?: boolean
  seedSchema?: boolean
  localWebhooks?: boolean
  still?: boolean
}

/** `postern sandbox`: the service alone, on this machine, until it is asked to stop. */
export function sandboxCommand(): Command {
  const command = new Command('sandbox')
    .description('run a sandbox of the service, with people whose phones hold real keys')
    .option('--port <number>', 'port of the API; 0 is any free one', readPort, 0)
    .option('--control-port <number>', 'port of the control API; 0 is any free one', readPort, 0)
    .option('--seed <file>', 'start with the world and the events of a YAML or JSON file', named)
    .option('--data <file>', 'store the world in a file, and continue with what it holds', named)
    .option('--seed-schema', 'print the JSON schema of a seed file, and exit')
    .option('--json', 'print one line of JSON once it listens')
    .option(
      '--local-webhooks',
      'allow webhooks over http and at any address, for bots on this machine',
    )
    .option('--still', 'stop the clock at the start; only `advance` of the control moves it then')
  return addExample(command, 'postern sandbox --port 8800').action(run)
}

async function run(flags: SandboxFlags): Promise<void> {
  const { port, controlPort, seed, data, json, localWebhooks, still } = flags
  if (flags.seedSchema === true) {
    const { seedSchema } = await import('../sandbox/seed/schema.ts')
    return print(seedSchema())
  }
  const stop = shutdownRequested()
  const file = seed === undefined ? null : readSeedFile(seed)
  const { createSandbox } = await import('../sandbox/create.ts')
  await using sandbox = await createSandbox({
    port,
    controlPort,
    webhooks: localWebhooks === true ? 'local' : 'public',
    onStepError: ({ action, reason }) =>
      printNotice(`a \`${action}\` of the seed could not happen: ${reason}`),
    ...(file === null ? {} : { world: file.content }),
    ...(data === undefined ? {} : { data }),
    ...(still === true ? { clock: 'still' as const } : {}),
  }).catch((error: unknown) => refuse(error, file))
  if (sandbox.isNew && file === null) {
    await Promise.all(sandbox.people.map(({ id }) => sandbox.phone(id)))
  }
  if (!sandbox.isNew)
    printNotice(
      `the world of ${data} goes on${seed === undefined ? '' : '; the seed is not applied to it'}`,
    )
  if (json === true) print(JSON.stringify(worldOf(sandbox)))
  else describe(sandbox)
  await stop
}

function worldOf({ url, controlUrl, bots, people, chats }: Sandbox): object {
  return { url, controlUrl, bots, people, chats }
}

function describe(sandbox: Sandbox): void {
  printTable([
    ['api', '', sandbox.url],
    ['control', '', sandbox.controlUrl],
    ...sandbox.bots.map(({ username, token }) => ['bot', username, token]),
    ...sandbox.people.map(({ id, username }) => ['person', username, String(id)]),
    ...sandbox.chats.map(({ id, kind, mode }) => ['chat', `${kind}, ${mode}`, String(id)]),
  ])
  printNotice('the sandbox runs; GET / of the control API lists what it can do; Ctrl-C ends it')
}

function named(file: string): string {
  if (file === '') throw new InvalidArgumentError('Expected the name of a file.')
  return file
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port > 65_535) throw new InvalidArgumentError('Expected a number from 0 to 65535.')
  return port
}

function refuse(error: unknown, file: SeedFile | null): never {
  if (file !== null && error instanceof SeedError) throw file.refusal(error)
  const { code, port } = error as { code?: string; port?: number }
  if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
  const why = code === 'EACCES' ? 'may not be used by you' : 'is in use'
  throw new OperatorError(
    'listen',
    `port ${port} ${why}`,
    'choose another with --port or --control-port; 0 takes any free one',
    { cause: error },
  )
}
