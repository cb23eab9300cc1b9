import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'

const stage = useStage()

test('`GET /chats/{chatId}` shows every chat as open, with mode and latch in `postern`', async () => {
  const person = await stage.friend()
  const extra = { title: 'Room', user: { id: 3 }, blocked: false, unknown: [1] }
  const chats = [
    [stage.openGroup({ extra }), 'open', false],
    [stage.group([person], { extra }), 'protected', true],
    [stage.privateChat(person, { extra }), 'protected', true],
    [stage.double.world.addChat({ kind: 'channel', extra }), 'open', false],
  ] as const
  for (const [chat, mode, latched] of chats) {
    const { status, json } = await stage.sidecar.call('GET', `/chats/${chat.id}`)
    const body = JSON.parse(
      stage.double.calls('GET', `/chats/${chat.id}`).at(-1)?.answered?.body.toString() ?? '',
    ) as { result: object }
    expect(status).toBe(200)
    expect(json.result).toEqual({ ...body.result, mode: 'open', postern: { mode, latched } })
  }
})

test('`GET /chats/{chatId}` keeps the spelling of numbers, and drops a `postern` of the service', async () => {
  const chat = stage.group([])
  const rights = '18446744073709551615'
  const body = `{"ok":true,"result":{"id":${chat.id},"kind":"group","mode":"protected",
    "historyVisible":false,"me":{"status":"member","rights":${rights},"restrictedUntil":null},
    "postern":{"mode":"open","latched":false}}}`
  using _lie = stage.double.script('GET', `/chats/${chat.id}`, { body })
  const called = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(called.text).toContain(`"rights":${rights}`)
  expect(called.json.result.postern).toEqual({ mode: 'protected', latched: true })
})

test('`GET /chats/{chatId}` returns a refusal to the byte, and 502 for a result that is no chat', async () => {
  const chat = stage.openGroup()
  const path = `/chats/${chat.id}`
  {
    using _refusal = stage.double.script(
      'GET',
      path,
      no(404, 'chat_not_found', { error: { n: 1 } }),
    )
    const called = await stage.sidecar.call('GET', path)
    expect([called.status, called.text]).toEqual([404, stage.lastAnswer('GET', path)])
  }
  using _lie = stage.double.script('GET', path, { json: { ok: true, result: 'a chat' } })
  const called = await stage.sidecar.call('GET', path)
  expect([called.status, called.json.error.code]).toEqual([502, 'postern_upstream_invalid'])
})

test('`GET /chats/{chatId}/keys` returns a 404 or 429 of the service to the byte', async () => {
  for (const reply of [
    no(404, 'chat_not_found'),
    no(429, 'rate_limited', { headers: { 'retry-after': '9' } }),
  ]) {
    using _reply = stage.double.script('GET', '/chats/1/keys', reply)
    const called = await stage.sidecar.call('GET', '/chats/1/keys')
    expect(called.status).toBe(reply.status)
    expect(called.text).toBe(stage.lastAnswer('GET', '/chats/1/keys'))
    expect(called.headers['retry-after']).toBe(reply.headers?.['retry-after'])
  }
})

for (const path of ['/chats/twelve', '/chats/1.5/keys', '/chats/1e3', '/chats/%31x']) {
  test(`a request for the chat path ${path} is refused with 404 and does not reach the service`, async () => {
    const since = stage.double.mark()
    const called = await stage.sidecar.call('GET', path)
    expect([called.status, called.json.error.code]).toEqual([404, 'chat_not_found'])
    expect(stage.double.mark()).toBe(since)
  })
}
