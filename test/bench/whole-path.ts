import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { send } from './bench-bots.ts'
import { addGroup, addPeople } from './crowd.ts'
import { compare, type Result } from './measure.ts'
import { startPostern } from './processes.ts'

const MEMBERS = 950
/** What the sidecar has between two messages to make the next one ahead. */
const BETWEEN_MS = 1200

/**
 * From the bot's POST until the first octet of it reaches the service, in a group of 950 whose list
 * is known, beside a private chat.
 */
export async function wholePathJobs(): Promise<Result[]> {
  await using sandbox = await createSandbox({ rates: 'off' })
  const people = await addPeople(sandbox, MEMBERS)
  const group = await addGroup(sandbox, { title: 'Crowd', people })
  await using front = await startFront(sandbox.url)
  await using postern = await startPostern({
    upstream: front.url,
    token: sandbox.token,
    publish: true,
  })
  await (await sandbox.phone(sandbox.home.alice.id)).write(sandbox.home.privateChat, 'hello')
  const say = (chatId: number) => async (): Promise<number> => {
    const startedAt = performance.now()
    const arrived = front.nextMessage()
    await send(postern, { token: sandbox.token, chatId })
    return (await arrived) - startedAt
  }
  const before = (): Promise<void> => pause(BETWEEN_MS)
  return [
    await compare({
      job: `whole-path-${MEMBERS}`,
      ours: { before, run: say(group) },
      peers: [{ name: 'private-chat', before, run: say(sandbox.home.privateChat) }],
      rounds: 15,
      warmups: 4,
    }),
  ]
}

/** Stands before the service and notes when messages begin to arrive. */
async function startFront(
  upstream: string,
): Promise<AsyncDisposable & { url: string; nextMessage: () => Promise<number> }> {
  const { hostname, port } = new URL(upstream)
  let arrived: (atMs: number) => void = () => {}
  const server = createServer((socket) => {
    const beyond = connect({ host: hostname, port: Number(port) })
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('POST /bot/v1/messages')) arrived(performance.now())
    })
    socket.pipe(beyond).pipe(socket)
    socket.on('error', () => beyond.destroy())
    beyond.on('error', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextMessage: () => new Promise((resolve) => (arrived = resolve)),
    async [Symbol.asyncDispose]() {
      server.close()
      await Promise.resolve()
    },
  }
}
