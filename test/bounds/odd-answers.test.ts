import { expect, test } from 'vitest'
import { answering } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const INVALID = [502, 'postern_upstream_invalid']

test.each([
  ['strings', '[{"updateId":"1","kind":"message"}]'],
  ['unsafe integers', '[{"updateId":9007199254740993,"kind":"message"}]'],
  ['fractions', '[{"updateId":1.5,"kind":"message"}]'],
  ['missing', '[{"kind":"message"}]'],
  ['repeated', '[{"updateId":7,"kind":"message"},{"updateId":7,"kind":"message"}]'],
  ['not ascending', '[{"updateId":8,"kind":"message"},{"updateId":7,"kind":"message"}]'],
  ['outside a list', '{"updateId":7,"kind":"message"}'],
  ['inside strings', '["update"]'],
])(
  'U7 a poll with update ids that are %s is `postern_upstream_invalid`, and the next poll succeeds',
  async (_name, list) => {
    const { alice, privateChat } = scene.sandbox.home
    const phone = await scene.sandbox.phone(alice.id)
    const id = await phone.write(privateChat, 'still waiting')
    scene.front.instead.set('GET /updates', answering(`{"ok":true,"result":${list}}`))
    const { status, json } = await scene.meanwhile(scene.call('GET', '/updates'))
    expect([status, json.error?.code]).toEqual(INVALID)
    scene.front.instead.delete('GET /updates')
    expect(await scene.take()).toMatchObject([{ id, text: 'still waiting' }])
  },
)

test('U8 an update of an unknown kind with unknown fields is delivered unchanged', async () => {
  const update = '{"updateId":5,"kind":"wave","wave":{"height":1.50},"more":[null]}'
  scene.front.instead.set('GET /updates', answering(`{"ok":true,"result":[${update}],"page":9}`))
  const { status, json } = await scene.call('GET', '/updates')
  scene.front.instead.delete('GET /updates')
  expect(status).toBe(200)
  expect(json.result).toEqual(JSON.parse(`[${update}]`))
})

test.each(['{"date":1}', '{"id":"x","date":1,"more":true}'])(
  'U13 a send whose successful answer is %s returns that answer',
  async (result) => {
    const { privateChat, readableGroup } = scene.sandbox.home
    for (const chatId of [privateChat, readableGroup]) {
      scene.front.instead.set('POST /messages', answering(`{"ok":true,"result":${result}}`))
      const { status, json } = await scene.call('POST', '/messages', { chatId, text: 'hello' })
      scene.front.instead.delete('POST /messages')
      expect(status).toBe(200)
      expect(json.result).toMatchObject(JSON.parse(result) as object)
    }
  },
)
