import { describe, expect, test } from 'vitest'
import { answering } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const INVALID = [502, 'postern_upstream_invalid']

describe('answers that are JSON, in the envelope, and odd all the same', () => {
  test.each([
    ['strings', '[{"updateId":"1","kind":"message"}]'],
    ['beyond what can be counted', '[{"updateId":9007199254740993,"kind":"message"}]'],
    ['fractions', '[{"updateId":1.5,"kind":"message"}]'],
    ['missing', '[{"kind":"message"}]'],
    ['the same twice', '[{"updateId":7,"kind":"message"},{"updateId":7,"kind":"message"}]'],
    ['not growing', '[{"updateId":8,"kind":"message"},{"updateId":7,"kind":"message"}]'],
    ['those of no list', '{"updateId":7,"kind":"message"}'],
    ['those of words', '["update"]'],
  ])(
    'U7 updates whose ids are %s are no updates; the next poll is as ever',
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

  test('U8 kinds, codes and fields that nobody knows pass', async () => {
    const update = '{"updateId":5,"kind":"wave","wave":{"height":1.50},"more":[null]}'
    scene.front.instead.set('GET /updates', answering(`{"ok":true,"result":[${update}],"page":9}`))
    const { status, json } = await scene.call('GET', '/updates')
    scene.front.instead.delete('GET /updates')
    expect(status).toBe(200)
    expect(json.result).toEqual(JSON.parse(`[${update}]`))
  })

  test.each(['{"date":1}', '{"id":"x","date":1,"more":true}'])(
    'U13 a success that says %s of what was sent is the service’s word, and passes',
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
})
