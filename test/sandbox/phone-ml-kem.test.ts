/** A sidecar whose service is a world below a path, with and without ML-KEM-768+X25519. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createControlClient, type Control } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../src/openpgp/format/packets.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'
import { ask } from './support.ts'

const WITHIN_MS = 60_000
const BYTES = Buffer.from('0123456789')
type World = Awaited<ReturnType<Control['addWorld']>>

let sandbox: Sandbox
let world: World
let control: Control
let sidecar: Sidecar
beforeAll(async () => {
  sandbox = await createSandbox()
  world = await sandbox.control.addWorld({ name: 'pqc' })
  control = createControlClient(world.controlUrl)
  sidecar = await startSidecar({
    upstream: world.url,
    env: { POSTERN_BOT_TOKEN: world.bots[0]?.token ?? '', POSTERN_KEY_ALGORITHM: 'pqc' },
  })
  await sidecar.whenReady()
}, WITHIN_MS)
afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
})

interface Update {
  updateId: number
  message: { text: string; postern: object; media?: { url: string }[] }
}

async function call<T>(request: string, body?: object): Promise<T> {
  const at = { url: sidecar.url, token: world.bots[0]?.token ?? '' }
  const answer = await ask<T>(at, request, body === undefined ? {} : { body })
  expect(answer.ok, JSON.stringify(answer.error)).toBe(true)
  return answer.result
}

let offset = 0
async function updates(count: number): Promise<Update['message'][]> {
  const got: Update[] = []
  while (got.length < count) {
    const some = await call<Update[]>(`GET /updates?timeout=20&offset=${offset}`)
    got.push(...some)
    offset = (got.at(-1)?.updateId ?? offset - 1) + 1
  }
  return got.map(({ message }) => message)
}

test.each(['ml-kem', 'ml-kem-alone', 'curve25519', 'x25519'] as const)(
  'a person with a key of %s and a bot with both subkeys write and send files to each other',
  { timeout: WITHIN_MS },
  async (kind) => {
    const userId = world.people[0]?.id ?? 0
    const chatId = world.chats[0]?.id ?? 0
    await control.newKey({ userId, kind })
    await control.write({ userId, chatId, text: `from ${kind}` })
    await control.sendMedia({ userId, chatId, text: 'a file', base64: BYTES.toString('base64') })
    const [words, file] = await updates(2)
    expect(words).toMatchObject({ text: `from ${kind}`, postern: { verdict: 'verified' } })
    const fetched = await fetch(sidecar.url + (file?.media?.[0]?.url ?? ''))
    expect(await fetched.text()).toBe(BYTES.toString())
    // one message a second is what the service accepts of a bot in a chat
    await control.advance({ ms: 2000 })
    await call('POST /messages', { chatId, text: `to ${kind}` })
    const last = async () => (await control.inbox({ userId })).inbox.at(-1)
    await expect.poll(last).toMatchObject({ text: `to ${kind}`, verdict: 'verified' })
    expect(await control.search({ words: `to ${kind}` })).toEqual([])
    expect(sandbox.transcript.list()).toEqual([])
  },
)

test(
  '`key rotate` changes the algorithm, and `check` warns of people without a post-quantum subkey',
  { timeout: WITHIN_MS },
  async () => {
    const check = async (): Promise<{ name: string; level: string; message: string }[]> =>
      JSON.parse((await sidecar.postern('check', '--json')).stdout)
    const line = (await check()).find(({ name }) => name === 'post-quantum')
    expect(line).toMatchObject({ level: 'warn' })
    expect(line?.message).toContain('0 of 1 people have such a subkey themselves')
    expect(line?.message).toContain(String(world.people[0]?.id))
    for (const [algorithm, kinds] of [
      ['classic', [18]],
      ['pqc', [18, 35]],
    ] as const) {
      const rotated = await sidecar.postern('key', 'rotate', '--algorithm', algorithm)
      expect(rotated.code, rotated.stderr).toBe(0)
      const { stdout } = await sidecar.postern('key', 'show', rotated.stdout.trim())
      const packets = [...packetsOf(dearmor(stdout, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0))]
      const subkeys = packets.filter(({ tag }) => tag === 14)
      expect(subkeys.map(({ body }) => body[5])).toEqual(kinds)
    }
    const refused = await sidecar.postern('key', 'rotate', '--algorithm', 'rsa')
    expect(refused.code).toBe(2)
  },
)
