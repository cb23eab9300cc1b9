/** Whole sidecars whose store is in a database, which is taken from them and given back. */
import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { canary, useStage, type Stage } from '../../support/double-stage.ts'
import { freshSchema, hasPostgres, ownCluster } from '../../support/postgres.ts'
import { refusalOf } from './scene.ts'

const UNWRITABLE = [503, 'postern_store_unwritable']

const own = hasPostgres() ? ownCluster() : null
own?.cluster.start()
const env = {
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_STORE_URL: own?.cluster.url ?? '',
  POSTERN_STORE_SCHEMA: freshSchema(),
}
const stage = own === null ? (null as never as Stage) : useStage({ env })
afterAll(() => own?.[Symbol.dispose]())

const cluster = own?.cluster as NonNullable<typeof own>['cluster']

describe.skipIf(own === null)('a sidecar on PostgreSQL', () => {
  test('a sidecar on PostgreSQL sends, keeps no database file and has its latches after a kill', async () => {
    const friend = await stage.friend()
    const chat = stage.privateChat(friend)
    const words = canary()
    await stage.show(chat)
    expect((await stage.send(chat, words)).status).toBe(201)
    expect(stage.bodies(0).at(-1)).toHaveProperty('armored')
    stage.expectNowhere(words)
    expect(stage.sidecar.logs()).not.toContain('postgres://')
    expect(readdirSync(stage.sidecar.dataDir).filter((name) => name.endsWith('.db'))).toEqual([])
    const group = stage.group([friend])
    expect((await stage.send(group, 'sealed')).status).toBe(201)
    await stage.sidecar.kill()
    await stage.restart()
    Object.assign(group, { mode: 'open', historyVisible: true })
    expect(refusalOf(await stage.send(group, words))).toEqual([409, 'postern_downgrade_refused'])
    stage.expectNowhere(words)
  })

  test('`postern check` passes the lines database, commits and schema', async () => {
    const { code, stdout } = await stage.sidecar.postern('check', '--json')
    const lines = JSON.parse(stdout) as { name: string; level: string; message: string }[]
    const about = lines.filter(({ name }) => ['database', 'commits', 'schema'].includes(name))
    const levels = about.map(({ name, level }) => `${name} ${level}`)
    expect([code, levels]).toEqual([0, ['database pass', 'commits pass', 'schema pass']])
  })

  test('a sidecar that loses its database refuses sends and polls, passes other calls and recovers', async () => {
    const chat = stage.privateChat(await stage.friend())
    await stage.show(chat)
    const before = stage.double.log.length
    const poll = stage.sidecar.call('GET', '/updates?offset=1000000&timeout=40')
    const polls = (): number => stage.double.calls('GET', '/updates', before).length
    await expect.poll(polls).toBe(1)
    cluster.stop('immediate')
    await stage.sidecar.whenReason('store-unreachable')
    expect(refusalOf(await poll)).toEqual(UNWRITABLE)
    const since = stage.double.log.length
    for (const called of [
      await stage.send(chat, 'words'),
      await stage.send(stage.openGroup(), 'words'),
      await stage.sidecar.call('GET', '/updates'),
    ]) {
      expect(refusalOf(called)).toEqual(UNWRITABLE)
    }
    expect(stage.bodies(since)).toEqual([])
    expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
    expect((await stage.sidecar.call('GET', `/chats/${chat.id}/members`)).status).toBe(200)
    cluster.start()
    await stage.sidecar.whenReady()
    expect((await stage.send(chat, 'words')).status).toBe(201)
  })

  test('a sidecar whose database hangs ends the poll, and delivers the update once the database continues', async () => {
    const friend = await stage.friend()
    const chat = stage.privateChat(friend)
    await stage.show(chat)
    const before = stage.double.log.length
    const poll = stage.sidecar.call('GET', '/updates?offset=1000000&timeout=40')
    await expect.poll(() => stage.double.calls('GET', '/updates', before).length).toBe(1)
    cluster.signal('SIGSTOP')
    try {
      expect(refusalOf(await poll)).toEqual(UNWRITABLE)
      expect(refusalOf(await stage.send(chat, 'words'))).toEqual(UNWRITABLE)
      expect(refusalOf(await stage.sidecar.call('GET', '/updates'))).toEqual(UNWRITABLE)
      expect((await stage.sidecar.readiness()).reasons).toContain('store-unreachable')
    } finally {
      cluster.signal('SIGCONT')
    }
    await stage.sidecar.whenReady()
    const [message] = await stage.deliver([stage.double.world.message(chat, friend, { text: 'a' })])
    expect(message.postern.verdict).toBe('plaintext-in-protected')
  })
})
