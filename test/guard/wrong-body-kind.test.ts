import { expect, test } from 'vitest'
import { shownChat } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'

const stage = useStage()

const expecting = (expected?: string) =>
  no(400, 'wrong_body_kind', expected === undefined ? {} : { error: { expected } })

test('a readable text refused for a sealed one is sealed and sent once more, and the chat stays sealed', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  await stage.send(chat, 'readable')
  chat.historyVisible = false

  const since = stage.double.mark()
  const sent = await stage.send(chat, 'first', { sendId: '0B5F3C2E-6F8A-4C1B-9C1D-7D8E9FA0B1C2' })
  expect(sent.status).toBe(201)
  const [readable, sealed] = stage.bodies(since)
  expect(readable.text).toBe('first')
  expect(sealed).not.toHaveProperty('text')
  expect(sealed.sendId).toBe(readable.sendId)
  expect((await person.phone.open(sealed.armored, stage.botCertificate)).text).toBe('first')

  const words = canary()
  expect((await stage.send(chat, words)).status).toBe(201)
  expect((await stage.edit(chat, 7, { text: words })).status).toBe(200)
  stage.expectNowhere(words)
})

test('a readable edit refused for a sealed one is sealed and repeated once', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  const { id } = (await stage.send(chat, 'readable')).json.result
  chat.historyVisible = false

  const since = stage.double.mark()
  expect((await stage.edit(chat, id, { text: 'edited', markup: null })).status).toBe(200)
  const [readable, sealed] = stage.bodies(since)
  expect(readable).toMatchObject({ text: 'edited', markup: null })
  expect(sealed.markup).toBe(null)
  expect((await person.phone.open(sealed.armored, stage.botCertificate)).text).toBe('edited')
})

test.each([
  ['private', 'text'],
  ['group', 'text'],
  ['private', undefined],
])('a sealed text for a %s chat refused for %s is not repeated', async (kind, expected) => {
  const person = await stage.friend()
  const chat = kind === 'private' ? await shownChat(stage, person) : stage.group([person])
  const words = canary()
  using _lie = stage.double.script('POST', '/messages', expecting(expected))
  using _other = stage.double.script('PATCH', '/messages/7', expecting(expected))
  const since = stage.double.mark()
  for (const { status, json } of [
    await stage.send(chat, words),
    await stage.edit(chat, 7, { text: words }),
  ]) {
    expect([status, json.error.code]).toEqual([409, 'postern_downgrade_refused'])
  }
  expect(stage.bodies(since).length).toBe(2)
  stage.expectNowhere(words)
})

test('a service that refuses both body kinds receives two calls at most', async () => {
  const chat = stage.openGroup({ people: [await stage.friend()] })
  await stage.send(chat, 'readable')
  using _lie = stage.double.script('POST', '/messages', ({ json }) =>
    expecting(json.text === undefined ? 'text' : 'armored'),
  )
  chat.historyVisible = false
  const since = stage.double.mark()
  const sent = await stage.send(chat, 'wanted by nobody')
  expect(sent.json.error.code).toBe('postern_downgrade_refused')
  expect(stage.bodies(since).length).toBe(2)
})
