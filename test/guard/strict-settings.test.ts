import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'

const stage = useStage({
  env: {
    POSTERN_READABLE_GROUPS: 'refuse',
    POSTERN_SEAL_UNUSABLE_RECIPIENT: 'refuse',
    POSTERN_ROUTES_ALLOW_UNKNOWN: 'true',
  },
})

test('with readableGroups: refuse no readable text goes anywhere', async () => {
  const group = stage.openGroup()
  const channel = stage.double.world.addChat({ kind: 'channel' })
  for (const chat of [group, channel]) {
    const words = canary()
    for (const answer of [
      await stage.send(chat, words),
      await stage.edit(chat, 7, { text: words }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
      expect(answer.json.error.message).toContain('readableGroups')
    }
    stage.expectNowhere(words)
  }
})

test('with seal.unusableRecipient: refuse one unusable certificate stops the message for all', async () => {
  const friend = await stage.friend()
  const broken = stage.double.world.addUser({
    certificate: 'nothing',
    fingerprint: 'ab'.repeat(20),
  })
  const words = canary()
  const sent = await stage.send(stage.group([friend, broken]), words)
  expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_recipient_unusable'])
  expect(sent.json.error.message).toContain(String(broken.id))
  expect((await stage.send(stage.group([friend]), words)).status).toBe(201)
  stage.expectNowhere(words)
})

test('with routes.allowUnknown an unknown path passes with its body', async () => {
  using _known = stage.double.script('POST', '/stickers', ok({ id: 1 }))
  const answer = await stage.sidecar.call('POST', '/stickers', '{"n": 9007199254740993, "s": 1.0}')
  expect(answer.status).toBe(200)
  expect(stage.double.calls('POST', '/stickers')[0]?.body).toBe('{"n":9007199254740993,"s":1.0}')
})

const SPELLINGS = ['/Messages', '/messages/', '/messages;v=2', '/messages/7/', '/KEY', '/key/']

for (const path of SPELLINGS) {
  test(`with routes.allowUnknown words sent to ${path} do not leave all the same`, async () => {
    const words = canary()
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const answer = await stage.sidecar.call(method, path, { chatId: 1, publicKey: words })
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
    stage.expectNowhere(words)
  })
}
