import { expect, test } from 'vitest'
import {
  expectReadable,
  expectRefused,
  expectSealed,
  postern,
  shownChat,
} from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'

const stage = useStage()
const refused = async () =>
  await expectRefused(
    stage,
    await shownChat(stage, await stage.friend()),
    'postern_bot_unprotected',
    503,
  )

/** What the owner does in the console, or a service that lies says. */
function removeKey(): void {
  stage.double.world.bot = { ...stage.double.world.bot, mode: 'open', fingerprint: null }
}

const puts = () => stage.double.calls('PUT', '/key').length

// The tests of this file follow one another.
test('a bot whose key was removed at the service sends nothing private, and /readyz has the reason', async () => {
  const friend = await stage.friend()
  await expectSealed(stage, await shownChat(stage, friend), [friend])
  removeKey()
  const before = puts()
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReason('bot-unprotected')
  expect((await stage.sidecar.readiness()).status).toBe(503)
  expect(await refused()).toContain('postern chat allow-readable --private')
  expect(puts()).toBe(before)
})

test('a removed key is detected by the refusal of a sealed text', async () => {
  const { world } = stage.double
  world.bot = { ...world.bot, mode: 'protected', fingerprint: world.published?.fingerprint }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReady()
  removeKey()
  await refused()
  expect((await stage.sidecar.readiness()).reasons).toEqual(['bot-unprotected'])
})

test('a restart puts no removed key back, and sends nothing private', async () => {
  const before = puts()
  await stage.restart()
  await stage.sidecar.whenReason('bot-unprotected')
  await refused()
  expect(puts()).toBe(before)
})

test('readable groups receive text while the bot’s key is removed', async () => {
  await expectReadable(stage, stage.openGroup())
})

test('`chat allow-readable --private` makes private chats readable, also after a restart', async () => {
  await refused()
  const person = await stage.friend()
  const chat = await shownChat(stage, person)
  await postern(stage, 'chat', 'allow-readable', '--private', '--yes')
  expect((await stage.sidecar.readiness()).reasons).toEqual([])
  await expectReadable(stage, chat)
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { text: 'hello' })])
  expect(read.text).toBe('hello')

  await stage.restart()
  await stage.sidecar.whenReady()
  await expectReadable(stage, chat)
})

test('`key publish` protects a bot whose key was removed', async () => {
  const person = await stage.friend()
  const chat = await shownChat(stage, person)
  await postern(stage, 'key', 'publish')
  await stage.sidecar.whenReady()
  await expectSealed(stage, chat, [person])
})
