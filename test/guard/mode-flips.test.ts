import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage({ env: { POSTERN_CACHE_CHAT_SECONDS: '0' } })

test('a group that turned protected since the last send takes the next text sealed', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  expect((await stage.send(chat, 'everybody may read this')).status).toBe(201)
  chat.historyVisible = false

  const words = canary()
  const since = stage.double.mark()
  expect((await stage.send(chat, words)).status).toBe(201)
  const [body] = stage.bodies(since)
  expect(body).not.toHaveProperty('text')
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  stage.expectNowhere(words)
})

test('a group that turned protected between a send and its edit takes the edit sealed', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  const { id } = (await stage.send(chat, 'everybody may read this')).json.result
  chat.historyVisible = false

  const words = canary()
  const since = stage.double.mark()
  expect((await stage.edit(chat, id, { text: words })).status).toBe(200)
  const [body] = stage.bodies(since)
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  stage.expectNowhere(words)
})

test('a send whose answer was lost is repeated with the same sealed bytes, whatever the chat claims by then', async () => {
  const person = await stage.friend()
  const chat = stage.group([person])
  const words = canary()
  const since = stage.double.mark()
  stage.double.script(
    'POST',
    '/messages',
    () => {
      chat.historyVisible = true
      return 'cut'
    },
    1,
  )
  const sent = await stage.send(chat, words)
  expect(sent.json.error.code).toBe('postern_downgrade_refused')
  const [first, second] = stage.double.calls('POST', '/messages', since)
  expect(second?.body).toBe(first?.body)
  expect(first?.json.armored).toContain('BEGIN PGP MESSAGE')
  stage.expectNowhere(words)
})

test('an edit whose answer was lost is not repeated', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const words = canary()
  const since = stage.double.mark()
  stage.double.script('PATCH', '/messages/7', 'cut', 1)
  const edited = await stage.edit(chat, 7, { text: words })
  expect([edited.status, edited.json.error.code]).toEqual([502, 'postern_upstream_unreachable'])
  expect(stage.double.calls('PATCH', undefined, since).length).toBe(1)
  stage.expectNowhere(words)
})

test('a protected group that claims to be open gets no readable text, not as a send and not as an edit', async () => {
  const person = await stage.friend()
  const chat = stage.group([person])
  expect((await stage.send(chat, 'sealed')).status).toBe(201)
  chat.historyVisible = true

  const words = canary()
  for (const answer of [
    await stage.send(chat, words),
    await stage.edit(chat, 7, { text: words }),
  ]) {
    expect([answer.status, answer.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
  }
  stage.expectNowhere(words)
})
