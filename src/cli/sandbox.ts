import { Command, InvalidArgumentError } from 'commander'
import type { Sandbox } from '../sandbox/create.ts'
import { OperatorError } from '../errors.ts'
import { example } from './flags.ts'
import { stopped } from './stop.ts'
import { put, say, table } from './terminal.ts'

interface SandboxFlags {
  port: number
  json?: boolean
  localWebhooks?: boolean
}

/** `postern sandbox`: the service alone, on this machine, until it is told to stop. */
export function sandboxCommand(): Command {
  const command = new Command('sandbox')
    .description('run the service itself on this machine, with people whose phones hold real keys')
    .option('--port <number>', 'port of the API (any free one)', readPort, 0)
    .option('--json', 'print one line of JSON once it listens')
    .option('--local-webhooks', 'let webhooks be http and at any address, for bots on this machine')
  return example(command, 'postern sandbox --port 8800').action(run)
}

async function run({ port, json, localWebhooks }: SandboxFlags): Promise<void> {
  const stop = stopped()
  const { createSandbox } = await import('../sandbox/create.ts')
  const webhooks = localWebhooks === true ? 'local' : 'public'
  await using sandbox = await createSandbox({ port, webhooks }).catch((error: unknown) =>
    refuse(error, port),
  )
  await Promise.all(sandbox.people.map(({ id }) => sandbox.phone(id)))
  if (json === true) put(JSON.stringify(worldOf(sandbox)))
  else describe(sandbox)
  await stop
}

function worldOf({ url, controlUrl, bots, people, chats }: Sandbox): object {
  return { url, controlUrl, bots, people, chats }
}

function describe(sandbox: Sandbox): void {
  table([
    ['api', '', sandbox.url],
    ['control', '', sandbox.controlUrl],
    ...sandbox.bots.map(({ username, token }) => ['bot', username, token]),
    ...sandbox.people.map(({ id, username }) => ['person', username, String(id)]),
    ...sandbox.chats.map(({ id, kind, mode }) => ['chat', `${kind}, ${mode}`, String(id)]),
  ])
  say('the sandbox runs; GET / of control lists what one can do there; Ctrl-C ends it')
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port > 65_535) throw new InvalidArgumentError('Expected a number from 0 to 65535.')
  return port
}

function refuse(error: unknown, port: number): never {
  const { code } = error as { code?: string }
  if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
  const why = code === 'EACCES' ? 'may not be used by you' : 'is in use'
  throw new OperatorError(
    'listen',
    `port ${port} ${why}`,
    'choose another with --port; 0 takes any free one',
    { cause: error },
  )
}
