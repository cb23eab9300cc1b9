/** A notice in a chat, which the service gives to one of two sidecars: the other one knows it too. */
import { beforeAll, describe, expect, test } from 'vitest'
import { useStage, type Stage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const env: Record<string, string> = {
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_STORE_SCHEMA: freshSchema(),
}
if (hasPostgres()) env['POSTERN_STORE_URL'] = (await sharedCluster()).url
const stage = hasPostgres() ? useStage({ env }) : (null as never as Stage)
let other: Sidecar

/** The other sidecar alone is given a notice. */
async function notice(chat: DoubleChat, kind: string): Promise<void> {
  const { world } = stage.double
  const updateId = world.push({ kind: 'message', message: world.message(chat, null, { kind }) })
  const { json } = await other.call('GET', `/updates?offset=${updateId}&timeout=5`)
  expect(json.result).toHaveLength(1)
}

describe.skipIf(!hasPostgres())('a notice that the other sidecar receives', () => {
  beforeAll(async () => {
    other = stage.use(await startSidecar({ upstream: stage.double.url, env }))
    await other.whenReady()
  })

  test('a "left" notice at one sidecar removes the person from the recipients at the other', async () => {
    const [stays, leaves] = [await stage.person(), await stage.person()]
    const group = stage.group([stays, leaves])
    await stage.show(group)
    /** Whether the one who leaves can read what is sent now. */
    const isReader = async (): Promise<boolean> => {
      const since = stage.double.mark()
      expect((await stage.send(group, 'words')).status).toBe(201)
      const [{ armored }] = stage.bodies(since)
      return await leaves.phone.open(armored, stage.botCertificate).then(
        () => true,
        () => false,
      )
    }
    expect(await isReader()).toBe(true)
    group.people = [stays]
    await notice(group, 'left')
    expect(await isReader()).toBe(false)
  })

  test('a "mode" notice at one sidecar makes the other fetch the chat mode before it sends readable text', async () => {
    const group = stage.openGroup({ people: [await stage.friend()] })
    await stage.show(group)
    const since = stage.double.mark()
    await stage.send(group, 'words')
    group.mode = 'protected'
    await notice(group, 'mode')
    expect((await stage.send(group, 'other words')).status).toBe(201)
    expect(stage.bodies(since).map(({ text }) => text)).toEqual(['words', undefined])
  })
})
