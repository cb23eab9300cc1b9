import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

test('a group that claims to be open without an open history gets nothing', async () => {
  const chat = stage.group([], { mode: 'open', historyVisible: false })
  const words = canary()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
  expect(sent.json.error.message).toContain('postern chat allow-readable')
  expect((await stage.edit(chat, 7, { text: words })).status).toBe(409)
  stage.expectNowhere(words)
})

test('a group that does not say whether its history is open gets nothing', async () => {
  const chat = stage.group([], { mode: 'open', extra: { historyVisible: 'yes' } })
  const words = canary()
  expect((await stage.send(chat, words)).status).not.toBe(201)
  stage.expectNowhere(words)
})

test('a chat of a kind that the spec does not name gets nothing, although it claims to be open', async () => {
  const chat = stage.double.world.addChat({ kind: 'bazaar', mode: 'open', historyVisible: true })
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a chat whose mode is a word that the spec does not have gets nothing', async () => {
  const chat = stage.openGroup({ extra: { mode: 'ajar' } })
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_upstream_invalid')
  stage.expectNowhere(words)
})

test('an answer about another chat than was asked for opens nothing', async () => {
  const chat = stage.group([], { extra: { id: 4711, mode: 'open', historyVisible: true } })
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_upstream_invalid')
  stage.expectNowhere(words)
})

test('an open group with an open history and an open channel take readable text', async () => {
  const group = stage.openGroup()
  const channel = stage.double.world.addChat({ kind: 'channel' })
  for (const chat of [group, channel]) {
    expect((await stage.send(chat, 'for all to read')).status).toBe(201)
    expect(stage.double.world.written.at(-1)?.body.text).toBe('for all to read')
  }
})
