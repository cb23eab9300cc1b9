import { describe, expect, test } from 'vitest'
import { answering } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const INVALID = '502 postern_upstream_invalid'

/** An array in an array in an array. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe('deep JSON and names given twice', () => {
  test.each([33, 1000, 10_000, 100_000])(
    'a body of the bot’s that is nested %i deep is a bad_request, and nothing leaves',
    async (depth) => {
      const { privateChat } = scene.sandbox.home
      const before = scene.sandbox.transcript.list().length
      const body = `{"chatId":${privateChat},"text":"deep","markup":${nested(depth)}}`
      const { status, json } = await scene.call('POST', '/messages', body)
      expect([status, json.error?.code]).toEqual([400, 'bad_request'])
      expect(scene.sandbox.transcript.list().length).toBe(before)
    },
  )

  test('so is a name that stands twice in one object, however it is spelt', async () => {
    const { privateChat, readableGroup } = scene.sandbox.home
    const bodies = [
      `{"chatId":${privateChat},"chatId":${readableGroup},"text":"to whom?"}`,
      `{"chatId":${readableGroup},"text":"a","text":"b"}`,
      `{"chatId":${readableGroup},"text":"a","te\\u0078t":"b"}`,
      `{"chatId":${readableGroup},"text":"a","markup":{"inlineKeyboard":[[{"text":"a","text":"b","url":"https://a.example"}]]}}`,
    ]
    for (const body of bodies)
      expect(await scene.outcome('POST', '/messages', body)).toBe('400 bad_request')
  })

  test('many names, none of them twice, are read or refused', async () => {
    const { readableGroup } = scene.sandbox.home
    const names = Array.from({ length: 10_000 }, (_, n) => `"n${n}":${n}`).join(',')
    const body = `{"chatId":${readableGroup},"text":"with much beside it",${names}}`
    const { status } = await scene.call('POST', '/messages', body)
    expect(status).toBeLessThan(500)
  })

  test('an update that is nested deep is handed on or is no answer of the service, and stalls nothing', async () => {
    const { privateChat, alice } = scene.sandbox.home
    const phone = await scene.sandbox.phone(alice.id)
    const armored = await phone.seal('beside something deep', scene.certificates)
    const depths = [40, 1000, 3000, 5000, 7000, 10_000, 100_000, 1_000_000]
    const answers = depths.map((depth) => {
      const message = JSON.stringify({
        id: 900_000 + depth,
        chat: { id: privateChat, kind: 'private' },
        from: { id: alice.id, username: 'alice', firstName: 'Alice', lastName: null, isBot: false },
        date: Date.now(),
        kind: 'user',
        armored,
      })
      const updates = `[{"updateId":1,"kind":"message","message":${message},"extra":${nested(depth)}}]`
      return answering(`{"ok":true,"result":${updates}}`)
    })
    const left = [...answers]
    scene.front.instead.set('GET /updates', (response) => left.shift()?.(response))
    // side by side: each that is none is held back for a while
    const outcomes = await Promise.all(depths.map(() => scene.outcome('GET', '/updates')))
    scene.front.instead.delete('GET /updates')
    expect(left).toEqual([])
    expect(outcomes.toSorted()).toEqual([200, ...depths.slice(1).map(() => INVALID)])
  })

  test('an answer to an ordinary call is held to the same', async () => {
    for (const depth of [3000, 100_000]) {
      scene.front.instead.set('GET /commands', answering(`{"ok":true,"result":${nested(depth)}}`))
      expect([200, INVALID]).toContain(await scene.outcome('GET', '/commands'))
    }
  })
})
