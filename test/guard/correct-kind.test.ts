/** One update that calls a group private: the stricter kind counts until the operator takes it back. */
import { expect, test } from 'vitest'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()

const correct = (chat: DoubleChat, ...more: string[]) =>
  stage.sidecar.postern('chat', 'correct-kind', String(chat.id), ...more)

async function says(chat: DoubleChat, from: Person, as?: 'private'): Promise<Json> {
  const readers = chat.people.flatMap(({ key }) => key?.certificate ?? [])
  const armored = await from.phone.seal(canary(), [stage.botCertificate, ...readers])
  const message = stage.double.world.message(chat, from, { armored })
  const named = as === undefined ? message : { ...message, chat: { ...message.chat, kind: as } }
  const [got] = await stage.deliver([named])
  return got.postern
}

/** A group of two that one update has called private. */
async function calledPrivate() {
  const [alice, bob] = [await stage.person(), await stage.person()]
  const chat = stage.group([alice, bob])
  expect((await stage.send(chat, canary())).status).toBe(201)
  await says(chat, alice, 'private')
  return { alice, bob, chat }
}

test('a group that an update called private refuses sends and words until `chat correct-kind`, over restarts', async () => {
  const { bob, chat } = await calledPrivate()
  await stage.restart()
  const refused = await stage.send(chat, canary())
  expect(refused.status).toBe(409)
  expect(refused.json.error.message).toContain('postern chat correct-kind')
  expect(await says(chat, bob)).toMatchObject({ opened: true, reason: 'other-person' })

  const done = await correct(chat, '--to', 'group', '--yes')
  expect(done.code, done.stderr).toBe(0)
  await stage.restart()
  expect((await stage.send(chat, canary())).status).toBe(201)
  expect(await says(chat, bob)).toMatchObject({ opened: true, verdict: 'verified' })
})

test('`chat correct-kind` needs --yes without a terminal, and a known chat', async () => {
  const { chat } = await calledPrivate()
  expect((await correct(chat, '--to', 'group')).code).toBe(2)
  expect((await stage.send(chat, canary())).status).toBe(409)
  expect((await correct(chat, '--to', 'private', '--yes')).code).toBe(2)
  const unknown = { ...chat, id: 999_999 }
  expect((await correct(unknown, '--to', 'group', '--yes')).stderr).toContain('is not known')
})

test('`chat correct-kind` keeps the latch, and the next private sighting counts again', async () => {
  const { alice, chat } = await calledPrivate()
  await correct(chat, '--to', 'group', '--yes')
  Object.assign(chat, { mode: 'open', historyVisible: true })
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
  Object.assign(chat, { mode: 'protected' })
  await says(chat, alice, 'private')
  expect((await stage.send(chat, canary())).status).toBe(409)
})
