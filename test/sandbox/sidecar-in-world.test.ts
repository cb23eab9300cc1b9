import { afterAll, beforeAll, expect, test } from 'vitest'
import { createControlClient, type Control } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const WITHIN_MS = 60_000
type World = Awaited<ReturnType<Control['addWorld']>>

let sandbox: Sandbox
let world: World
let control: Control
let sidecar: Sidecar
beforeAll(async () => {
  sandbox = await createSandbox()
  world = await sandbox.control.addWorld({ name: 'one' })
  control = createControlClient(world.controlUrl)
  sidecar = await startSidecar({
    upstream: world.url,
    env: { POSTERN_BOT_TOKEN: world.bots[0]?.token ?? '' },
  })
  await sidecar.whenReady()
}, WITHIN_MS)
afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
})

interface Update {
  message: { text: string; media: { url: string }[] }
}

async function call<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${sidecar.url}/bot/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${world.bots[0]?.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return ((await answer.json()) as { result: T }).result
}

test(
  'a sidecar whose service is a world below a path sends, reads and fetches sealed files there',
  { timeout: WITHIN_MS },
  async () => {
    const userId = world.people[0]?.id ?? 0
    const chatId = world.chats[0]?.id ?? 0
    await control.write({ userId, chatId, text: 'hello' })
    await control.sendMedia({
      userId,
      chatId,
      text: 'a file',
      base64: Buffer.from('0123456789').toString('base64'),
    })
    const updates = await call<Update[]>('/updates?timeout=20&limit=2')
    expect(updates.map(({ message }) => message.text)).toEqual(['hello', 'a file'])
    const file = await fetch(sidecar.url + (updates[1]?.message.media[0]?.url ?? ''))
    expect(await file.text()).toBe('0123456789')
    await call('/messages', { chatId, text: 'hello yourself' })
    const { inbox } = await control.inbox({ userId })
    expect(inbox).toMatchObject([{ text: 'hello yourself', verdict: 'verified' }])
    expect(await control.search({ words: 'hello yourself' })).toEqual([])
    expect(sandbox.transcript.list()).toEqual([])
  },
)
