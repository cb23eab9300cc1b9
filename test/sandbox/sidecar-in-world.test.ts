import { afterAll, beforeAll, expect, test } from 'vitest'
import { createControlClient, type Control } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'
import { ask } from './support.ts'

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

async function call<T>(request: string, body?: object): Promise<T> {
  const at = { url: sidecar.url, token: world.bots[0]?.token ?? '' }
  return (await ask<T>(at, request, body === undefined ? {} : { body })).result
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
    const updates = await call<Update[]>('GET /updates?timeout=20&limit=2')
    expect(updates.map(({ message }) => message.text)).toEqual(['hello', 'a file'])
    const file = await fetch(sidecar.url + (updates[1]?.message.media[0]?.url ?? ''))
    expect(await file.text()).toBe('0123456789')
    await call('POST /messages', { chatId, text: 'hello yourself' })
    const { inbox } = await control.inbox({ userId })
    expect(inbox).toMatchObject([{ text: 'hello yourself', verdict: 'verified' }])
    expect(await control.search({ words: 'hello yourself' })).toEqual([])
    expect(sandbox.transcript.list()).toEqual([])
  },
)
