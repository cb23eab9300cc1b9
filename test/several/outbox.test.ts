/** What is sent later, by two sidecars of a bot: once each, in order, whichever of them dies. */
import { beforeAll, describe, expect, test } from 'vitest'
import { canary, useStage, type Stage } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const env = { POSTERN_KEY_PROTECTION: 'none', POSTERN_STORE_SCHEMA: freshSchema() }
const url = hasPostgres() ? (await sharedCluster()).url : ''
const stage = hasPostgres()
  ? useStage({ env: { ...env, POSTERN_STORE_URL: url } })
  : (null as never as Stage)
const WAIT = { timeout: 30_000 }

describe.skipIf(!hasPostgres())('of two sidecars', () => {
  let other: Sidecar
  beforeAll(async () => {
    const all = { ...env, POSTERN_STORE_URL: url }
    other = stage.use(await startSidecar({ upstream: stage.double.url, env: all }))
    await other.whenReady()
  })

  test('what both were given leaves by the one that is left, in order, once each', async () => {
    const chats = [stage.group([await stage.friend()]), stage.group([await stage.person()])]
    for (const chat of chats) await stage.send(chat, canary())
    const since = stage.double.mark()
    const ids: string[][] = [[], []]
    {
      using _away = stage.double.script('POST', '/messages', no(503, 'internal'))
      for (const sidecar of [stage.sidecar, other, stage.sidecar, other]) {
        for (const [at, chat] of chats.entries()) {
          const body = { chatId: chat.id, text: canary() }
          const headers = { prefer: 'respond-async' }
          const given = await sidecar.call('POST', '/messages', body, { headers })
          ids[at]?.push(given.json.result.postern.outbox.id)
        }
      }
      await expect.poll(() => stage.bodies(since).length, WAIT).toBeGreaterThan(0)
      await stage.sidecar.kill()
    }
    const written = () =>
      stage.double.world.written.flatMap(({ body }) => (body.sendId === undefined ? [] : [body]))
    const sendIds = (chatId: number) =>
      written()
        .flatMap((body) => (body.chatId === chatId ? [body.sendId] : []))
        .slice(1)
    await expect.poll(() => chats.flatMap(({ id }) => sendIds(id)).length, WAIT).toBe(8)
    expect(chats.map(({ id }) => sendIds(id))).toEqual(ids)
  })
})
