import { expect, test } from 'vitest'
import { expectReadable, expectRefused } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const REFUSED = 'postern_downgrade_refused'

test('a group latched by its mode, a lookup or a refusal stays latched after a kill', async () => {
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

test('a lookup of a latched group shows the claimed mode, and `latched` beside it', async () => {
  const chat = stage.group([await stage.friend()])
  await stage.sidecar.call('GET', `/chats/${chat.id}`)
  Object.assign(chat, { mode: 'open', historyVisible: true })
  const shown = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(shown.json.result).toMatchObject({
    mode: 'open',
    postern: { mode: 'open', latched: true },
  })
})

test('an armored message does not latch an open group', async () => {
  const chat = stage.openGroup()
  const armored = '-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n'
  const someone = stage.double.world.addUser(null)
  await stage.deliver([stage.double.world.message(chat, someone, { armored })])
  await expectReadable(stage, chat)
})

const INVALID = ['postern_upstream_invalid', 502] as const
test.each<[string, Partial<DoubleChat>, code?: string, status?: number]>([
  ['without an open history', { historyVisible: false }],
  ['with an invalid `historyVisible`', { extra: { historyVisible: 'yes' } }],
  ['with an unknown kind', { kind: 'bazaar' }],
  ['with an unknown mode', { extra: { mode: 'ajar' } }, ...INVALID],
  ['in an answer with another id', { extra: { id: 4711 } }, ...INVALID],
])(
  'a chat that claims to be open %s receives no readable text',
  async (_how, claim, code = REFUSED, status) => {
    const group = { kind: 'group', mode: 'open', historyVisible: true } as const
    const chat = stage.double.world.addChat({ ...group, ...claim })
    const message = await expectRefused(stage, chat, code, status)
    if (code === REFUSED) expect(message).toContain('postern chat allow-readable')
  },
)
