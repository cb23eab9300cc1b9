import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'

const stage = useStage()

test('a field outside the specification is refused by name in a protected chat', async () => {
  const person = await stage.friend()
  for (const chat of [stage.privateChat(person), stage.group([person])]) {
    const words = canary()
    const since = stage.double.mark()
    const extra = { caption: words }
    for (const answer of [
      await stage.send(chat, 'x', extra),
      await stage.edit(chat, 7, { text: 'x', ...extra }),
      await stage.edit(chat, 7, { markup: null, ...extra }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([400, 'bad_request'])
      expect(answer.json.error.message).toContain('caption')
    }
    expect(stage.bodies(since)).toEqual([])
    stage.expectNowhere(words)
  }
})

test('a field for sends alone is refused in the edit of a protected chat', async () => {
  const chat = stage.privateChat(await stage.friend())
  const edited = await stage.edit(chat, 7, { text: 'x', replyTo: 3 })
  expect([edited.status, edited.json.error.code]).toEqual([400, 'bad_request'])
  expect(edited.json.error.message).toContain('replyTo')
})

test('a field outside the specification leaves for a readable chat', async () => {
  const chat = stage.openGroup()
  const since = stage.double.mark()
  await stage.send(chat, 'x', { caption: 'later version' })
  await stage.edit(chat, 7, { text: 'y', caption: 'later version' })
  await stage.edit(chat, 7, { markup: null, caption: 'later version' })
  const later = { caption: 'later version' }
  expect(stage.bodies(since)).toMatchObject([later, later, later])
})

test('a send with an unknown field is refused once the chat became protected', async () => {
  const chat = stage.openGroup({ people: [await stage.friend()] })
  await stage.send(chat, 'readable')
  chat.historyVisible = false
  const since = stage.double.mark()
  const sent = await stage.send(chat, 'x', { caption: 'later version' })
  expect([sent.status, sent.json.error.code]).toEqual([400, 'bad_request'])
  expect(stage.bodies(since).filter(({ armored }) => armored !== undefined)).toEqual([])
})

test('an unknown path is passed byte by byte for `GET`, and refused for other methods', async () => {
  using _known = stage.double.script('GET', '/stickers/7', ok({ sticker: 7 }))
  const got = await stage.sidecar.call('GET', '/stickers/7?size=9007199254740993')
  const [asked] = stage.double.calls('GET', '/stickers/7')
  expect(asked?.query).toBe('size=9007199254740993')
  expect([got.status, got.text]).toEqual([200, asked?.answered?.body.toString()])

  const words = canary()
  const since = stage.double.mark()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await stage.sidecar.call(method, '/stickers', { text: words })
    const refused = [method, 403, 'postern_route_refused']
    expect([method, answer.status, answer.json.error.code]).toEqual(refused)
  }
  expect(stage.double.mark()).toBe(since)
  stage.expectNowhere(words)
})
