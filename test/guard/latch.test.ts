import { expect, test } from 'vitest'
import { expectReadable, expectRefused } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const REFUSED = 'postern_downgrade_refused'

test('a group seen protected by its mode, by the bot’s own look or by a refusal alone stays so after a kill, whatever the service claims', async () => {
  const people = [await stage.friend()]
  const byMode = stage.group(people)
  expect((await stage.send(byMode, 'sealed')).status).toBe(201)
  const byLook = stage.group(people)
  await stage.sidecar.call('GET', `/chats/${byLook.id}`)
  const byRefusal = stage.openGroup({ people })
  expect((await stage.send(byRefusal, 'readable')).status).toBe(201)
  byRefusal.mode = 'protected'
  expect((await stage.send(byRefusal, 'by an answer that is fresh')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body).toHaveProperty('armored')

  await stage.sidecar.kill()
  await stage.restart()
  for (const chat of [byMode, byLook, byRefusal]) {
    Object.assign(chat, { mode: 'open', historyVisible: true })
    await expectRefused(stage, chat, REFUSED)
  }
})

test('the bot sees a latched group as a readable one, and the truth beside it', async () => {
  const chat = stage.group([await stage.friend()])
  await stage.sidecar.call('GET', `/chats/${chat.id}`)
  Object.assign(chat, { mode: 'open', historyVisible: true })
  const shown = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(shown.json.result).toMatchObject({
    mode: 'open',
    postern: { mode: 'open', latched: true },
  })
})

test('the look of a body latches nothing: an open group that carries armor takes readable text', async () => {
  const chat = stage.openGroup()
  const armored = '-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n'
  const someone = stage.double.world.addUser(null)
  await stage.deliver([stage.double.world.message(chat, someone, { armored })])
  await expectReadable(stage, chat)
})

const INVALID = ['postern_upstream_invalid', 502] as const
test.each<[string, Partial<DoubleChat>, code?: string, status?: number]>([
  ['without an open history', { historyVisible: false }],
  ['and does not say whether its history is', { extra: { historyVisible: 'yes' } }],
  ['and is of a kind that the spec does not name', { kind: 'bazaar' }],
  ['by a word that the spec does not have', { extra: { mode: 'ajar' } }, ...INVALID],
  ['in an answer about another chat', { extra: { id: 4711 } }, ...INVALID],
])('a chat that claims to be open %s gets nothing', async (_how, claim, code = REFUSED, status) => {
  const group = { kind: 'group', mode: 'open', historyVisible: true } as const
  const chat = stage.double.world.addChat({ ...group, ...claim })
  const message = await expectRefused(stage, chat, code, status)
  if (code === REFUSED) expect(message).toContain('postern chat allow-readable')
})

test('a group that says channel without an open history gets nothing, after a restart neither', async () => {
  const chat = stage.group([])
  await stage.show(chat)
  Object.assign(chat, { kind: 'channel', mode: 'open' })
  await stage.show(chat)
  await expectRefused(stage, chat, REFUSED)
  await stage.restart()
  await stage.sidecar.whenReady()
  await expectRefused(stage, chat, REFUSED)
})

test('an open channel takes readable text, and so does an open group that says it is one', async () => {
  await expectReadable(stage, stage.double.world.addChat({ kind: 'channel', mode: 'open' }))
  const chat = stage.openGroup()
  await stage.show(chat)
  chat.kind = 'channel'
  await expectReadable(stage, chat)
})
