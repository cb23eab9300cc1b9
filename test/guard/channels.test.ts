import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

test('a group that says channel without an open history gets nothing, after a restart neither', async () => {
  const chat = stage.group([])
  await stage.show(chat)
  Object.assign(chat, { kind: 'channel', mode: 'open' })
  await stage.show(chat)
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  expect((await stage.edit(chat, 7, { text: words })).status).toBe(409)
  await stage.restart()
  await stage.sidecar.whenReady()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a channel that is seen as a group is judged as a group from then on', async () => {
  const chat = stage.double.world.addChat({ kind: 'channel', mode: 'open' })
  expect((await stage.send(chat, 'for all to read')).status).toBe(201)
  chat.kind = 'group'
  await stage.show(chat)
  chat.kind = 'channel'
  await stage.show(chat)
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a group that says channel and shows an open history takes readable text, as a group does', async () => {
  const chat = stage.openGroup()
  await stage.show(chat)
  chat.kind = 'channel'
  expect((await stage.send(chat, 'for all to read')).status).toBe(201)
})

test('a group that is seen to be private is private', async () => {
  const chat = stage.openGroup()
  await stage.show(chat)
  chat.kind = 'private'
  await stage.show(chat)
  const words = canary()
  expect((await stage.send(chat, words)).status).not.toBe(201)
  stage.expectNowhere(words)
})
