import { expect, test } from 'vitest'
import { GpgPhone } from '../support/double-phones.ts'
import { canary, useStage } from '../support/double-stage.ts'

const FOREIGN = 'AB'.repeat(20)
const stage = useStage({
  ready: false,
  before: ({ world }) => {
    world.bot = { ...world.bot, mode: 'protected', fingerprint: FOREIGN }
  },
})

// The tests of this file follow one another.
test('a key at the service that is not ours is not fought over at start', async () => {
  await stage.sidecar.whenReason('key-conflict')
  const { status, text } = await stage.sidecar.readiness()
  expect(status).toBe(503)
  expect(text).toContain('postern key publish --replace')
  expect(stage.double.calls('PUT', '/key')).toEqual([])

  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const words = canary()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([503, 'postern_key_conflict'])
  stage.expectNowhere(words)
})

test('key publish alone does not put ours in its place', async () => {
  const done = await stage.sidecar.postern('key', 'publish')
  expect(done.code).toBe(4)
  expect(done.stderr).toMatch(/hint: .*--replace/)
  expect(stage.double.calls('PUT', '/key')).toEqual([])
})

test('key publish --replace puts ours in its place, and messages flow', async () => {
  const done = await stage.sidecar.postern('key', 'publish', '--replace')
  expect(done.code, done.stderr).toBe(0)
  await stage.sidecar.whenReady()
  await using phone = await GpgPhone.make()
  await phone.gpg(['--import'], stage.botCertificate)

  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const since = stage.double.mark()
  expect((await stage.send(chat, 'sealed')).status).toBe(201)
  const opened = await person.phone.open(stage.bodies(since)[0].armored, stage.botCertificate)
  expect(opened.signer).toBe(stage.double.world.published?.fingerprint)
})

test('a key that somebody else puts there while the sidecar runs stops private sends', async () => {
  const { world } = stage.double
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const puts = stage.double.calls('PUT', '/key').length
  world.bot = { ...world.bot, fingerprint: FOREIGN }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReason('key-conflict')
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_key_conflict')
  expect(stage.double.calls('PUT', '/key').length).toBe(puts)
  stage.expectNowhere(words)

  world.bot = { ...world.bot, fingerprint: world.published?.fingerprint }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReady()
  expect((await stage.send(chat, words)).status).toBe(201)
})
