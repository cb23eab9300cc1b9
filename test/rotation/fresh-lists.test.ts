import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { Received } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'
import { rotationOf } from './support.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

/** Lets a publication wait until it is told to go on. */
function heldPublication() {
  const gate = Promise.withResolvers<void>()
  const rule = stage.double.script('PUT', '/key', async (request: Received) => {
    await gate.promise
    return await stage.double.world.answer(request, new Promise(() => {}))
  })
  return { open: () => gate.resolve(), [Symbol.dispose]: () => rule[Symbol.dispose]() }
}

test('a member who leaves a group while a send waits for a rotation cannot decrypt it', async () => {
  const [alice, mallory] = [await stage.friend(), await stage.person()]
  const group = stage.group([alice, mallory])
  expect((await stage.send(group, canary())).status).toBe(201)
  using publication = heldPublication()
  const rotating = stage.sidecar.postern('key', 'rotate')
  await until(async () => {
    return (await rotationOf(stage.sidecar))?.phase === 'publishing'
  }, 'it is being published')
  const words = canary()
  const since = stage.double.mark()
  const sending = stage.send(group, words)
  const listPath = `/chats/${group.id}/keys`
  await until(() => stage.double.calls('GET', listPath, since).length === 1, 'it has its list')
  await new Promise((resolve) => setTimeout(resolve, 300))
  group.people = [alice]
  publication.open()
  const sent = await sending
  expect(sent.status, sent.text).toBe(201)
  expect((await rotating).code).toBe(0)
  const [{ armored }] = stage.bodies(since)
  expect((await alice.phone.open(armored, stage.botCertificate)).text).toBe(words)
  await expect(mallory.phone.open(armored, stage.botCertificate)).rejects.toThrow()
})

test('a slow key list of one send does not delay a rotation', async () => {
  const group = stage.group([await stage.friend()])
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  using _slow = stage.double.script('GET', `/chats/${group.id}/keys`, async (request: Received) => {
    asked.resolve()
    await answer.promise
    return await stage.double.world.answer(request, new Promise(() => {}))
  })
  const sending = stage.send(group, canary())
  await asked.promise
  const before = stage.double.world.published?.fingerprint
  expect((await stage.sidecar.postern('key', 'rotate')).code).toBe(0)
  expect(stage.double.world.published?.fingerprint).not.toBe(before)
  answer.resolve()
  expect((await sending).status).toBe(201)
})
