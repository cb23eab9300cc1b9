import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

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
