/** A primary that dies, and its synchronous standby that is promoted, under sidecars that run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reachability } from '../../../src/store/store.ts'
import { Relay } from '../../faults/relay.ts'
import { canary, useStage, type Stage } from '../../support/double-stage.ts'
import { PostgresPair } from '../../support/postgres-pair.ts'
import { freshSchema, hasPostgres, type Cluster } from '../../support/postgres.ts'
import { startSidecar, type Sidecar } from '../../support/sidecar.ts'
import { flags, put, temporary } from '../support.ts'
import { openOn, refusalOf, serverOf, untilFresh } from './scene.ts'

const UNWRITABLE = [503, 'postern_store_unwritable']

const resources = new AsyncDisposableStack()
const pair = hasPostgres() ? resources.use(await PostgresPair.start()) : null
const relay = pair === null ? null : resources.use(await Relay.start(pair.primary))
const env = {
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_STORE_URL: relay?.url ?? '',
  POSTERN_STORE_SCHEMA: freshSchema(),
}
const stage = pair === null ? (null as never as Stage) : useStage({ env })
let other: Sidecar
let former: Cluster

beforeAll(async () => {
  if (pair === null) return
  other = resources.use(await startSidecar({ upstream: stage.double.url, env }))
  await other.whenReady()
})
afterAll(() => resources.disposeAsync())

const send = (sidecar: Sidecar, chatId: number, text: string) =>
  sidecar.call('POST', '/messages', { chatId, text })

const activeKey = async (sidecar: Sidecar): Promise<string> => {
  const { stdout } = await sidecar.postern('key', 'list', '--json')
  const keys = JSON.parse(stdout) as { state: string; fingerprint: string }[]
  return keys.find(({ state }) => state === 'active')?.fingerprint ?? 'none'
}

describe.skipIf(pair === null)('the fail-over of a primary to its synchronous standby', () => {
  test('a fail-over keeps the rotated key and the latch, refuses sends meanwhile and delivers waiting updates', async () => {
    const friend = await stage.friend()
    const chat = stage.privateChat(friend)
    await stage.show(chat)
    const group = stage.group([friend])
    // the last that is written before the end: a new key, and that a group is protected
    const rotated = await other.postern('key', 'rotate')
    expect(rotated.code, rotated.stderr).toBe(0)
    expect((await send(stage.sidecar, group.id, 'sealed')).status).toBe(201)
    relay?.down()
    former = pair!.failOver()
    await Promise.all([stage.sidecar, other].map((one) => one.whenReason('store-unreachable')))
    const [sealed, words, unread] = [canary(), canary(), canary()]
    const from = stage.double.log.length
    for (const one of [stage.sidecar, other]) {
      expect(refusalOf(await send(one, chat.id, words))).toEqual(UNWRITABLE)
      expect(refusalOf(await one.call('GET', '/updates'))).toEqual(UNWRITABLE)
    }
    const armored = await friend.phone.seal(unread, [stage.botCertificate])
    const message = stage.double.world.message(chat, friend, { armored })
    const id = stage.double.world.push({ kind: 'message', message })
    expect(stage.bodies(from)).toEqual([])

    relay?.leadTo(pair!.primary)
    relay?.up()
    await Promise.all([stage.sidecar.whenReady(), other.whenReady()])
    for (const one of [stage.sidecar, other]) {
      expect((await send(one, chat.id, sealed)).status).toBe(201)
      Object.assign(group, { mode: 'open', historyVisible: true })
      expect(refusalOf(await send(one, group.id, words))).toEqual([
        409,
        'postern_downgrade_refused',
      ])
      expect(await activeKey(one)).toBe(stage.double.world.published?.fingerprint.toLowerCase())
    }
    const { json } = await other.call('GET', `/updates?offset=${id}&timeout=5`)
    expect(json.result).toEqual([
      expect.objectContaining({ message: expect.objectContaining({ text: unread }) }),
    ])
    stage.expectNowhere(sealed)
    stage.expectNowhere(words)
  }, 180_000)

  test('a former primary that is back is refused by running and by restarting sidecars', async () => {
    const chat = stage.privateChat(await stage.friend())
    await stage.show(chat)
    former.start()
    relay?.leadTo(former)
    await Promise.all([stage.sidecar, other].map((one) => one.whenReason('store-rolled-back')))
    const from = stage.double.log.length
    for (const one of [stage.sidecar, other]) {
      expect(refusalOf(await send(one, chat.id, 'words'))).toEqual(UNWRITABLE)
    }
    expect(stage.bodies(from)).toEqual([])
    await expect(other.again()).rejects.toThrow('store-rolled-back')
    relay?.leadTo(pair!.primary)
    other = resources.use(await other.again())
    await Promise.all([stage.sidecar.whenReady(), other.whenReady()])
    expect((await send(other, chat.id, 'words')).status).toBe(201)
  })
})

test.skipIf(!hasPostgres())(
  'a former primary that misses no write is refused by an open store and by the next start',
  async () => {
    using own = await PostgresPair.start()
    await using way = await Relay.start(own.primary)
    const [schema, dataDir] = [freshSchema(), temporary()]
    const open = () => openOn(serverOf(way.url), schema, { dataDir })
    const store = await open()
    await put(store, 'a', 'b')
    way.down()
    const old = own.failOver()
    const promoted = own.primary
    way.leadTo(promoted)
    way.up()
    await untilFresh(store)
    const reach: Reachability[] = []
    store.onReachability((now) => reach.push(now))
    expect(await flags(store)).toEqual({ a: 'b' })
    old.start()
    way.leadTo(old)
    await expect.poll(() => reach.at(-1)).toBe('rolled-back')
    await expect(store.fresh()).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    await expect(flags(store)).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    await store[Symbol.asyncDispose]()
    await expect(open()).rejects.toMatchObject({ code: 'store-rolled-back' })
    way.leadTo(promoted)
    const again = await open()
    expect(await flags(again)).toEqual({ a: 'b' })
    await again[Symbol.asyncDispose]()
  },
)
