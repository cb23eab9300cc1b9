import { expect, test } from 'vitest'
import { expectRefused, expectSealed, postern, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'

const FOREIGN = 'AB'.repeat(20)
const stage = useStage({
  ready: false,
  before: ({ world }) => {
    world.bot = { ...world.bot, mode: 'protected', fingerprint: FOREIGN }
  },
})

const privateChat = async () => await shownChat(stage, await stage.friend())
const puts = () => stage.double.calls('PUT', '/key').length

// The tests of this file follow one another.
test('a sidecar that starts with a foreign key at the service puts no key, and is unready', async () => {
  await stage.sidecar.whenReason('key-conflict')
  const { status, text } = await stage.sidecar.readiness()
  expect(status).toBe(503)
  expect(text).toContain('postern key publish --replace')
  await expectRefused(stage, await privateChat(), 'postern_key_conflict', 503)
  expect(puts()).toBe(0)
})

test('`key publish` alone puts no key over a foreign one', async () => {
  const done = await stage.sidecar.postern('key', 'publish')
  expect(done.code).toBe(4)
  expect(done.stderr).toMatch(/hint: .*--replace/)
  expect(puts()).toBe(0)
})

test('`key publish --replace` puts the bot’s key over a foreign one, and sends are sealed again', async () => {
  await postern(stage, 'key', 'publish', '--replace')
  await stage.sidecar.whenReady()
  const { phone } = await stage.friend()
  const armored = await expectSealed(stage, await privateChat(), [])
  const { signer } = await phone.open(armored, stage.botCertificate)
  expect(signer).toBe(stage.double.world.published?.fingerprint)
})

test('a foreign key that appears while the sidecar runs stops private sends until it is gone', async () => {
  const { world } = stage.double
  const chat = await privateChat()
  const before = puts()
  world.bot = { ...world.bot, fingerprint: FOREIGN }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReason('key-conflict')
  await expectRefused(stage, chat, 'postern_key_conflict', 503)
  expect(puts()).toBe(before)

  world.bot = { ...world.bot, fingerprint: world.published?.fingerprint }
  await stage.sidecar.call('GET', '/me')
  await stage.sidecar.whenReady()
  await expectSealed(stage, chat, [await stage.friend()])
})
