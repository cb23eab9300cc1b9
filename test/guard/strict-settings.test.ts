import { expect, test } from 'vitest'
import { expectRefused, expectSealed } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'

const stage = useStage({
  env: {
    POSTERN_READABLE_GROUPS: 'refuse',
    POSTERN_SEAL_UNUSABLE_RECIPIENT: 'refuse',
    POSTERN_ROUTES_ALLOW_UNKNOWN: 'true',
  },
})

test('`readableGroups: refuse` refuses readable text in groups and channels', async () => {
  const group = stage.openGroup()
  const channel = stage.double.world.addChat({ kind: 'channel' })
  for (const chat of [group, channel]) {
    const message = await expectRefused(stage, chat, 'postern_downgrade_refused')
    expect(message).toContain('readableGroups')
  }
})

test('`seal.unusableRecipient: refuse` refuses a message for one unusable certificate', async () => {
  const friend = await stage.friend()
  const broken = stage.double.world.addUser({ certificate: 'none', fingerprint: 'ab'.repeat(20) })
  const group = stage.group([friend, broken])
  const message = await expectRefused(stage, group, 'postern_recipient_unusable')
  expect(message).toContain(String(broken.id))
  await expectSealed(stage, stage.group([friend]), [friend])
})

test('`routes.allowUnknown` passes an unknown path with its body', async () => {
  using _known = stage.double.script('POST', '/stickers', ok({ id: 1 }))
  const answer = await stage.sidecar.call('POST', '/stickers', '{"n": 9007199254740993, "s": 1.50}')
  expect(answer.status).toBe(200)
  expect(stage.double.calls('POST', '/stickers')[0]?.body).toBe('{"n":9007199254740993,"s":1.50}')
})

test.each([
  '/Messages',
  '/messages/',
  '/messages;v=2',
  '/messages/7/',
  '/%6dessages',
  '/KEY',
  '/key/',
])('`routes.allowUnknown` passes no text to %s', async (path) => {
  const words = canary()
  for (const method of ['POST', 'PUT', 'PATCH']) {
    const answer = await stage.sidecar.call(method, path, { chatId: 1, publicKey: words })
    expect(answer.status).toBeGreaterThanOrEqual(400)
  }
  stage.expectNowhere(words)
})
