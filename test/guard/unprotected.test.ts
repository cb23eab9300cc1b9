import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage({ inside: true })

/** What the owner does in the console, or a service that lies says. */
function removeKey(): void {
  stage.double.world.bot = { ...stage.double.world.bot, mode: 'open', fingerprint: null }
}

// The tests of this file follow one another.
test('a bot whose key was removed at the service sends nothing private, and /readyz says why', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect((await stage.send(chat, 'sealed')).status).toBe(201)
  removeKey()
  const puts = stage.double.calls('PUT', '/key').length
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReason('bot-unprotected')
  expect((await stage.sidecar.readiness()).status).toBe(503)

  const words = canary()
  for (const answer of [
    await stage.send(chat, words),
    await stage.edit(chat, 7, { text: words }),
  ]) {
    expect([answer.status, answer.json.error.code]).toEqual([503, 'postern_bot_unprotected'])
    expect(answer.json.error.message).toContain('postern chat allow-readable --private')
  }
  expect(stage.double.calls('PUT', '/key').length).toBe(puts)
  stage.expectNowhere(words)
})

test('a removal is noticed by the refusal of a sealed text, too', async () => {
  const other = stage.double.world
  const fingerprint = other.published?.fingerprint
  other.bot = { ...other.bot, mode: 'protected', fingerprint }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReady()
  removeKey()

  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const words = canary()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([503, 'postern_bot_unprotected'])
  expect((await stage.sidecar.readiness()).reasons).toEqual(['bot-unprotected'])
  stage.expectNowhere(words)
})

test('a restart changes nothing about it: no key is put back, and nothing private leaves', async () => {
  const puts = stage.double.calls('PUT', '/key').length
  await stage.restart()
  await stage.sidecar.whenReason('bot-unprotected')
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_bot_unprotected')
  expect(stage.double.calls('PUT', '/key').length).toBe(puts)
  stage.expectNowhere(words)
})

test('readable groups go on while the bot is unprotected', async () => {
  const chat = stage.openGroup()
  expect((await stage.send(chat, 'for all to read')).status).toBe(201)
})

test('allow-readable --private is the way back to a readable bot, at once and after a restart', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect((await stage.send(chat, 'x')).json.error.code).toBe('postern_bot_unprotected')
  const done = await stage.sidecar.postern('chat', 'allow-readable', '--private')
  expect(done.code, done.stderr).toBe(0)
  expect((await stage.sidecar.readiness()).reasons).toEqual([])
  expect((await stage.send(chat, 'in the open once more')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body.text).toBe('in the open once more')
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { text: 'hello' })])
  expect(read.text).toBe('hello')

  await stage.restart()
  await stage.sidecar.whenReady()
  expect((await stage.send(chat, 'and again')).status).toBe(201)
})

test('key publish is the way back to a protected one', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const done = await stage.sidecar.postern('key', 'publish')
  expect(done.code, done.stderr).toBe(0)
  await stage.sidecar.whenReady()

  const words = canary()
  const since = stage.double.mark()
  expect((await stage.send(chat, words)).status).toBe(201)
  const [body] = stage.bodies(since)
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  stage.expectNowhere(words)
})
