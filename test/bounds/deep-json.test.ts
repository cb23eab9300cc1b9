import { expect, test } from 'vitest'
import { answering } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const INVALID = '502 postern_upstream_invalid'

/** An array in an array in an array. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test('a send with 10 000 unknown fields is no failure of the sidecar', async () => {
  const { readableGroup } = scene.sandbox.home
  const names = Array.from({ length: 10_000 }, (_, n) => `"n${n}":${n}`).join(',')
  const body = `{"chatId":${readableGroup},"text":"with much beside it",${names}}`
  const { status } = await scene.call('POST', '/messages', body)
  expect(status).toBeLessThan(500)
})

test('a poll with a deeply nested update is delivered or `postern_upstream_invalid`, and delays no other call', async () => {
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

test('a deeply nested answer to a call is delivered or `postern_upstream_invalid`', async () => {
  for (const depth of [3000, 100_000]) {
    scene.front.instead.set('GET /commands', answering(`{"ok":true,"result":${nested(depth)}}`))
    expect([200, INVALID]).toContain(await scene.outcome('GET', '/commands'))
  }
})
