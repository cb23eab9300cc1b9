/** A database that stops, hangs, is taken away or fills, under a store that is open. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { hasPostgres, ownCluster, sharedCluster, type Cluster } from '../../support/postgres.ts'
import { Relay } from '../../faults/relay.ts'
import { canMount, fill, flags, mounted, put } from '../support.ts'
import { untilFresh, watched } from './scene.ts'

const UNWRITABLE = { code: 'postern_store_unwritable', status: 503 }

let own: ReturnType<typeof ownCluster>
let cluster: Cluster
beforeAll(() => {
  if (!hasPostgres()) return
  own = ownCluster()
  cluster = own.cluster
  cluster.start()
})
afterAll(() => own?.[Symbol.dispose]())

const noteFlag = (store: Store, name: string): Promise<unknown> =>
  store.note((db) => db.insertInto('flags').values({ name, value: 'x' }).execute(), {
    isSingle: true,
  })

/** Asks for everything that needs the database, all at once, and sees it refused. */
async function expectRefused(store: Store): Promise<void> {
  const asked: Promise<unknown>[] = [
    store.fresh(),
    put(store, 'meanwhile', 'x'),
    noteFlag(store, 'noted'),
    flags(store),
    store.tryLock('poll'),
  ]
  await Promise.all(asked.map((one) => expect(one).rejects.toMatchObject(UNWRITABLE)))
}

describe.skipIf(!hasPostgres())('a store whose database fails', () => {
  test('a store detects the crash of its database, refuses everything and recovers with all its rows', async () => {
    const { store, reach: said } = await watched(cluster.url)
    await put(store, 'kept', 'yes')
    cluster.stop('immediate')
    await expect.poll(() => said).toEqual(['unreachable'])
    await expectRefused(store)
    cluster.start()
    await untilFresh(store)
    expect(said).toEqual(['unreachable', 'reachable'])
    expect(await flags(store)).toEqual({ kept: 'yes' })
    await put(store, 'later', 'too')
  })

  test('a store refuses new and running queries while its database hangs', async () => {
    const { store, reach: said } = await watched(cluster.url)
    const { promise: hangs, resolve: hang } = Promise.withResolvers<void>()
    const writing = store.write(async (db) => {
      await db.insertInto('flags').values({ name: 'half', value: 'x' }).execute()
      hang()
      await stopped.promise
      await db.insertInto('flags').values({ name: 'other half', value: 'x' }).execute()
    })
    const stopped = Promise.withResolvers<void>()
    const outcome = expect(writing).rejects.toMatchObject(UNWRITABLE)
    await hangs
    cluster.signal('SIGSTOP')
    stopped.resolve()
    try {
      await outcome
      await expectRefused(store)
      expect(said).toEqual(['unreachable'])
    } finally {
      cluster.signal('SIGCONT')
    }
    await untilFresh(store)
    expect([said, await flags(store)]).toEqual([['unreachable', 'reachable'], {}])
  })

  test.each([1, 5])('a store survives %i connections that swallow every byte', async (count) => {
    await using relay = await Relay.start(cluster)
    const { store } = await watched(relay.url)
    await put(store, 'kept', 'yes')
    // shorter than what makes the session ask, so that the session is well
    relay.blackHole(true)
    const asked = Array.from({ length: count }, (_, n) => noteFlag(store, `swallowed ${n}`))
    const settled = Promise.allSettled([...asked, put(store, 'swallowed', 'x')])
    await pause(50)
    relay.blackHole(false)
    await settled
    await put(store, 'later', 'too')
    expect(await flags(store)).toMatchObject({ kept: 'yes', later: 'too' })
  })

  test('a store refuses writes while its database is read-only, and recovers', async () => {
    const { store, reach: said } = await watched(cluster.url)
    const setReadOnly = (value: string): void => {
      cluster.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      cluster.sql('SELECT pg_reload_conf()')
    }
    setReadOnly('on')
    try {
      const fresh = () => store.fresh().then(String, ({ code }) => code as string)
      await expect.poll(fresh).toBe(UNWRITABLE.code)
      await expect(put(store, 'a', 'b')).rejects.toMatchObject(UNWRITABLE)
      expect(said).toEqual(['unreachable'])
    } finally {
      setReadOnly('off')
    }
    await expect.poll(() => put(store, 'a', 'b').then(() => 'put', String)).toBe('put')
    expect(said).toEqual(['unreachable', 'reachable'])
  })

  test.skipIf(!canMount())(
    'a store on a full disk refuses the write, and recovers once there is room',
    async () => {
      const mount = mounted('3m')
      cluster.own(mount)
      const { store, writable: said, schema } = await watched(cluster.url)
      cluster.sql(`CREATE TABLESPACE small_${schema} LOCATION '${mount}'`)
      cluster.sql(`ALTER TABLE ${schema}.flags SET TABLESPACE small_${schema}`)
      await put(store, 'before', 'the disk was full')
      fill(mount)
      const digest = (n: number): string => createHash('sha256').update(String(n)).digest('base64')
      const large = Array.from({ length: 10_000 }, (_, n) => digest(n)).join('')
      await expect(put(store, 'large', large)).rejects.toMatchObject(UNWRITABLE)
      rmSync(join(mount, 'filler'))
      await put(store, 'after', 'it was emptied')
      expect(said).toEqual([false, true])
      expect(Object.keys(await flags(store))).toEqual(['before', 'after'])
      cluster.sql(`DROP SCHEMA ${schema} CASCADE`)
      cluster.sql(`DROP TABLESPACE small_${schema}`)
    },
  )

  test('a store refuses another database cluster at the same address', async () => {
    cluster.sql('CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain')
    await using relay = await Relay.start(cluster)
    const { store, reach: said } = await watched(relay.url.replace('postern@', 'plain@'))
    const another = await sharedCluster()
    another.sql('CREATE ROLE plain LOGIN')
    relay.leadTo(another)
    await expect.poll(() => said.at(-1)).toBe('rolled-back')
    await expectRefused(store)
    relay.leadTo(cluster)
    await untilFresh(store)
    expect(said.at(-1)).toBe('reachable')
  })

  test('a write is refused where the standby does not confirm its commit', async () => {
    const { store, writable: said } = await watched(cluster.url)
    const setStandby = (name: string): void => {
      cluster.sql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      cluster.sql('SELECT pg_reload_conf()')
    }
    const waiting = `FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
    setStandby('nobody')
    try {
      for (const write of [() => put(store, 'a', 'b'), () => noteFlag(store, 'noted')]) {
        const refused = expect(write()).rejects.toMatchObject(UNWRITABLE)
        await expect.poll(() => cluster.sql(`SELECT count(*) ${waiting}`)).toBe('1')
        cluster.sql(`SELECT pg_cancel_backend(pid) ${waiting}`)
        await refused
      }
    } finally {
      setStandby('')
    }
    await put(store, 'c', 'd')
    expect(said).toEqual([false, true])
  })
})
