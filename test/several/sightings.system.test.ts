/** What one of two sidecars has seen of the service, while the database was away or after a lift. */
import { beforeAll, describe, expect, test } from 'vitest'
import { Relay } from '../faults/relay.ts'
import { canary, useStage, type Stage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const env: Record<string, string> = {
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_STORE_SCHEMA: freshSchema(),
}
let relay: Relay
if (hasPostgres()) {
  relay = await Relay.start(await sharedCluster())
  env['POSTERN_STORE_URL'] = relay.url
}
const stage = hasPostgres() ? useStage({ env }) : (null as never as Stage)
let other: Sidecar

/** Words into a chat that the service calls open, by each of the two. */
async function expectRefused(chat: DoubleChat): Promise<void> {
  Object.assign(chat, { mode: 'open', historyVisible: true })
  for (const sidecar of [stage.sidecar, other]) {
    const text = canary()
    const sent = await sidecar.call('POST', '/messages', { chatId: chat.id, text })
    expect([sent.status, sent.json.error?.code]).toEqual([409, 'postern_downgrade_refused'])
    stage.expectNowhere(text)
  }
}

describe.skipIf(!hasPostgres())('sightings of two sidecars', () => {
  beforeAll(async () => {
    const url = (await sharedCluster()).url
    const direct = { ...env, POSTERN_STORE_URL: url }
    other = stage.use(await startSidecar({ upstream: stage.double.url, env: direct }))
    await other.whenReady()
  })

  const latchedAt = async (sidecar: Sidecar, chat: DoubleChat): Promise<unknown> => {
    const { json } = await sidecar.call('GET', `/chats/${chat.id}`)
    return json.result?.postern?.latched
  }

  test('a chat that turns protected while the database is unreachable is latched later at both sidecars', async () => {
    const chat = stage.group([await stage.friend()])
    Object.assign(chat, { mode: 'open', historyVisible: true })
    for (const one of [stage.sidecar, other]) expect(await latchedAt(one, chat)).toBe(false)
    chat.mode = 'protected'
    relay.down()
    const seen = await stage.sidecar.call('GET', `/chats/${chat.id}`)
    expect([seen.status, seen.json.error.code]).toEqual([503, 'postern_store_unwritable'])
    Object.assign(chat, { mode: 'open', historyVisible: true })
    relay.up()
    await stage.sidecar.whenReady()
    await expect.poll(() => latchedAt(other, chat)).toBe(true)
    await expectRefused(chat)
  })

  test('a latch that one sidecar lifts is set again by a sighting at the other', async () => {
    const chat = stage.group([await stage.friend()])
    for (const one of [stage.sidecar, other]) expect(await latchedAt(one, chat)).toBe(true)
    expect(await other.postern('chat', 'allow-readable', String(chat.id))).toMatchObject({
      code: 0,
    })
    expect(await latchedAt(stage.sidecar, chat)).toBe(true)
    await expectRefused(chat)
  })
})
