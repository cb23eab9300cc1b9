import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage({ inside: true })

test('a private chat that the service claims open gets sealed text, and its mode is never asked', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  using _lie = stage.double.script('POST', '/messages', ({ json }) => ({
    status: 201,
    json: { ok: true, result: { id: 1, date: json.chatId } },
  }))
  using _keys = stage.double.script('GET', `/chats/${chat.id}/keys`, () => ({
    json: { ok: true, result: { keys: [record(person)] } },
  }))
  chat.mode = 'open'
  const words = canary()
  const since = stage.double.mark()
  expect((await stage.send(chat, words)).status).toBe(201)
  expect(stage.double.names(since)).not.toContain(`GET /chats/${chat.id}`)
  const [body] = stage.bodies(since)
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  stage.expectNowhere(words)
})

test('a private chat that refuses to give keys because it is open gets nothing', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  chat.mode = 'open'
  const words = canary()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
  expect((await stage.edit(chat, 7, { text: words })).status).toBe(409)
  stage.expectNowhere(words)
})

test('a private chat that turns into an open group in answers and in updates stays private', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  Object.assign(chat, { kind: 'group', mode: 'open', historyVisible: true })
  await stage.show(chat)
  const shown = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(shown.json.result.kind).toBe('group')

  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  await stage.restart()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a chat that is first seen by its own answer, private and open, gets no readable text', async () => {
  const chat = stage.privateChat(await stage.friend(), { mode: 'open' })
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a private chat is known from the message of a pressed button', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const message = stage.double.world.message(chat, null, { text: 'press me', from: { id: 900 } })
  const callback = { id: 'press', from: { id: person.id }, message, data: 'x' }
  await stage.deliverUpdates([{ kind: 'callback_query', callbackQuery: callback }])
  Object.assign(chat, { kind: 'group', mode: 'open', historyVisible: true })

  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a private chat is known from a message that is only quoted', async () => {
  const chat = stage.privateChat(await stage.friend())
  const quoted = stage.double.world.message(chat, null, { text: 'quoted' })
  const group = stage.openGroup()
  await stage.deliver([stage.double.world.message(group, null, { text: 'x', replyTo: quoted })])
  Object.assign(chat, { kind: 'channel', mode: 'open' })

  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

function record(person: { id: number; key: { certificate: string } | null }) {
  return { userId: person.id, publicKey: person.key?.certificate }
}
