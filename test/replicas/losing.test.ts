/** A database that stops, hangs, is taken away or fills, under a store that is open. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { hasPostgres, ownCluster, sharedCluster, type Cluster } from '../support/postgres.ts'
import { Relay } from '../faults/relay.ts'
import { canMount, fill, flags, mounted, put } from '../store/support.ts'
import { serverOf, untilFresh, watched } from './scene.ts'

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

describe.skipIf(!hasPostgres())('a database', () => {
  test('that dies is noticed without being asked, refuses, and is back by itself with all it was told', async () => {
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

  test('that hangs refuses what is asked of it, and what was asked already', async () => {
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

  test('that hangs takes a lock from who has it, and gives it to another when it goes on', async () => {
    const { store } = await watched(cluster.url)
    const lock = await store.tryLock('poll')
    const lost = new Promise<void>((resolve) => {
      lock?.signal.addEventListener('abort', () => resolve())
    })
    cluster.signal('SIGSTOP')
    try {
      await lost
      expect(lock?.isHeld).toBe(false)
    } finally {
      cluster.signal('SIGCONT')
    }
    const again = (): Promise<boolean> => store.tryLock('poll').then(Boolean, () => false)
    await expect.poll(again).toBe(true)
  })

  test.each([1, 5])(
    'that lost what went over %i of its connections without a word is asked over others',
    async (count) => {
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
    },
  )

  test('that takes no writes any more is lost, until it takes them again', async () => {
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

  test('that takes away our rights refuses writes, and says so until one works again', async () => {
    cluster.sql(`CREATE ROLE bot LOGIN; GRANT CREATE ON DATABASE postgres TO bot`)
    const { store, writable: said, schema } = await watched(cluster.urlOf('bot'))
    await put(store, 'a', 'b')
    cluster.sql(`ALTER TABLE ${schema}.flags OWNER TO postern`)
    await expect(put(store, 'c', 'd')).rejects.toMatchObject(UNWRITABLE)
    await expect(put(store, 'e', 'f')).rejects.toMatchObject(UNWRITABLE)
    cluster.sql(`ALTER TABLE ${schema}.flags OWNER TO bot`)
    await put(store, 'g', 'h')
    expect([said, await flags(store)]).toEqual([[false, true], { a: 'b', g: 'h' }])
  })

  test.skipIf(!canMount())(
    'whose disk is full refuses the write, and heals by itself',
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
      expect([said, Object.keys(await flags(store))]).toEqual([
        [false, true],
        ['before', 'after'],
      ])
      cluster.sql(`DROP SCHEMA ${schema} CASCADE`)
      cluster.sql(`DROP TABLESPACE small_${schema}`)
    },
  )

  test('that is behind what was seen of it is refused, until it has all of it again', async () => {
    const { store, reach: said, schema } = await watched(cluster.url)
    await put(store, 'seen', 'yes')
    const move = (by: string): string =>
      cluster.sql(`UPDATE ${schema}.state SET epoch = epoch ${by}`)
    move('- 1')
    await expect(put(store, 'a', 'b')).rejects.toMatchObject(UNWRITABLE)
    await expect(store.fresh()).rejects.toMatchObject(UNWRITABLE)
    expect(said).toEqual(['rolled-back'])
    move('+ 1')
    await store.fresh()
    expect([said, await flags(store)]).toEqual([['rolled-back', 'reachable'], { seen: 'yes' }])
  })

  test('that is another one at the same address is refused, whatever it holds', async () => {
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

  test('whose standby does not confirm a commit has not written, although it says so', async () => {
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

  test('that gives up one statement is asked again, and nobody hears of it', async () => {
    const { store, writable: said, schema } = await watched(cluster.url)
    const { promise: holds, resolve: hold } = Promise.withResolvers<void>()
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_locks
      WHERE NOT granted AND relation = '${schema}.state'::regclass`
    const first = serverOf(cluster.url)
      .databaseFor(schema)
      .transaction()
      .execute(async (db) => {
        await sql.raw(`LOCK TABLE ${schema}.state`).execute(db)
        hold()
        const cancelled = async () => (await sql.raw(cancel).execute(db)).rows.length
        await expect.poll(cancelled).toBe(1)
      })
    await holds
    const putting = put(store, 'a', 'b')
    await first
    await putting
    expect([said, await flags(store)]).toEqual([[], { a: 'b' }])
  })

  test('that ends one connection alone is not lost', async () => {
    const { store, reach: said } = await watched(cluster.url)
    await flags(store)
    cluster.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'postern'`,
    )
    await untilFresh(store)
    expect([said, await flags(store)]).toEqual([[], {}])
  })
})
