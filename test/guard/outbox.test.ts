/** Sends and edits that are made later: sealed when they leave, once each, in order, or set aside. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import { BOT_TOKEN, type DoubleChat } from '../support/double-world.ts'
import { no } from '../support/double-wire.ts'

const stage = useStage()
const LATER = { prefer: 'respond-async' }

async function later(chat: DoubleChat, text: string, more: object = {}) {
  const body = { chatId: chat.id, text, ...more }
  const given = await stage.sidecar.call('POST', '/messages', body, { headers: LATER })
  return { ...given, id: String(given.json.result?.postern.outbox.id) }
}
const shown = async (id: string, headers = {}) => {
  const response = await fetch(`${stage.sidecar.url}/postern/v1/outbox/${id}`, {
    headers: { ...BEARER, ...headers },
  })
  return { status: response.status, ...((await response.json()) as { result: Entry }) }
}
interface Entry {
  state: string
  code: string | null
  messageId: number | null
}
const settled = async (id: string): Promise<Entry> => {
  await expect.poll(async () => (await shown(id)).result.state).not.toBe('waiting')
  return (await shown(id)).result
}
const BEARER = { authorization: `Bearer ${BOT_TOKEN}` }

test('a later send is answered with 202, and sealed to the people at its time', async () => {
  const [alice, bob] = [await stage.friend(), await stage.person()]
  const chat = stage.group([alice])
  await stage.show(chat)
  const words = canary()
  const since = stage.double.mark()
  const at = Date.now() + 5000
  const { status, headers, json, id } = await later(chat, words, { deliverAt: at })
  expect([status, json.result]).toEqual([202, { postern: { outbox: { id, state: 'waiting' } } }])
  expect(headers).toMatchObject({
    'preference-applied': 'respond-async',
    location: `/postern/v1/outbox/${id}`,
  })
  expect(stage.bodies(since)).toEqual([])
  chat.people = [bob]
  const { state, messageId } = await settled(id)
  expect([state, typeof messageId]).toEqual(['sent', 'number'])
  expect(Date.now()).toBeGreaterThanOrEqual(at)
  const [{ armored, sendId }] = stage.bodies(since)
  expect(sendId).toBe(id)
  expect((await bob.phone.open(armored, stage.botCertificate)).text).toBe(words)
  await expect(alice.phone.open(armored, stage.botCertificate)).rejects.toThrow()
  stage.expectNowhere(words)
})

test('a later send with a repeated `sendId` is made once, and refused for another chat', async () => {
  const chat = stage.group([await stage.friend()])
  const since = stage.double.mark()
  const sendId = randomUUID()
  const [first, again] = [
    await later(chat, 'words', { sendId }),
    await later(chat, 'other words', { sendId }),
  ]
  expect([first.id, again.id, again.status]).toEqual([sendId, sendId, 202])
  expect((await settled(sendId)).state).toBe('sent')
  expect((await later(chat, 'words', { sendId })).json.result.postern.outbox.state).toBe('sent')
  expect(stage.bodies(since)).toHaveLength(1)
  const other = stage.group([await stage.friend()])
  expect((await later(other, 'words', { sendId })).json.error.code).toBe('conflict')
})

test('a later send survives a kill, and is stored encrypted until then', async () => {
  const chat = stage.group([await stage.friend()])
  const words = canary()
  const { id } = await later(chat, words, { deliverAt: Date.now() + 1000 })
  const drop = (await later(chat, canary(), { deliverAt: Date.now() + 60_000 })).id
  await stage.sidecar.kill()
  await stage.restart()
  await stage.sidecar.whenReady()
  stage.expectNowhere(words)
  expect((await settled(id)).state).toBe('sent')
  const dropped = await stage.sidecar.postern('outbox', 'drop', drop)
  expect(dropped.stdout + dropped.stderr).toContain('its call is not made')
  expect((await shown(drop)).status).toBe(404)
})

test('a later send given for a protected chat is held when the chat is readable, until the operator allows it', async () => {
  const chat = stage.group([], { historyVisible: true, mode: 'open' })
  await stage.restart({ POSTERN_CACHE_CHAT_SECONDS: '0' })
  await stage.sidecar.whenReady()
  const since = stage.double.mark()
  using _unknown = stage.double.script('GET', `/chats/${chat.id}`, no(503, 'internal'), 1)
  const { id } = await later(chat, 'for sealed eyes')
  expect(await settled(id)).toMatchObject({ state: 'held', code: 'postern_mode_changed' })
  expect(stage.bodies(since)).toEqual([])
  const plain = await stage.sidecar.postern('outbox', 'retry', id)
  expect(plain.stderr).toContain('has become readable')
  await stage.sidecar.postern('outbox', 'retry', id, '--readable')
  expect((await settled(id)).state).toBe('sent')
  expect(stage.bodies(since)).toMatchObject([{ text: 'for sealed eyes' }])
})

test('a later send is sealed in a chat that became protected meanwhile', async () => {
  const chat = stage.openGroup({ people: [await stage.friend()] })
  await stage.send(chat, canary())
  const since = stage.double.mark()
  const away = stage.double.script('POST', '/messages', no(503, 'internal'))
  const { id } = await later(chat, canary())
  await expect.poll(() => stage.bodies(since)).toMatchObject([{ text: expect.any(String) }])
  chat.mode = 'protected'
  away[Symbol.dispose]()
  expect((await settled(id)).state).toBe('sent')
  expect(stage.bodies(since).at(-1)).toHaveProperty('armored')
})

const made = async (...flags: string[]) => {
  const { stdout } = await stage.sidecar.postern('client', 'add', ...flags)
  return { authorization: `Bearer ${stdout.trim()}` }
}

test('a client with `--outbox always` reads its own entries alone, and the bot reads them all', async () => {
  const chat = stage.group([await stage.friend()])
  const headers = await made('slow', '--may', 'send', '--chats', 'all', '--outbox', 'always')
  const body = { chatId: chat.id, text: 'x' }
  const given = await stage.sidecar.call('POST', '/messages', body, { headers })
  const { id } = given.json.result.postern.outbox
  expect(given.status).toBe(202)
  expect((await shown(id, headers)).status).toBe(200)
  expect((await settled(id)).state).toBe('sent')
  const other = await later(chat, canary())
  expect((await shown(other.id, headers)).status).toBe(404)
  // what waits ahead would be tried first while the service is away
  await settled(other.id)
})

test.each(['rotate', 'remove'])(
  '`client %s` refuses and lists what the client gave for later, while the service is away',
  async (command) => {
    const chat = stage.group([await stage.friend()])
    const name = `brief-${command}`
    const headers = { ...(await made(name, '--may', 'send', '--chats', 'all')), ...LATER }
    const body = { chatId: chat.id, text: canary() }
    using _away = stage.double.script('POST', '/messages', no(503, 'internal'))
    const ahead = await later(chat, canary())
    const given = await stage.sidecar.call('POST', '/messages', body, { headers })
    const { id } = given.json.result.postern.outbox
    const { stderr } = await stage.sidecar.postern('client', command, name)
    expect(stderr).toContain(`refused, and leaves no more: ${id}`)
    const refusal = { state: 'refused', code: 'postern_not_allowed' }
    expect((await shown(id)).result).toMatchObject(refusal)
    const { stdout } = await stage.sidecar.postern('client', 'log', name)
    expect(stdout).toContain('client-call-refused')
    await stage.sidecar.postern('outbox', 'retry', id)
    expect(await settled(id)).toMatchObject(refusal)
    await stage.sidecar.postern('outbox', 'drop', ahead.id)
    stage.expectNowhere(body.text)
  },
)
