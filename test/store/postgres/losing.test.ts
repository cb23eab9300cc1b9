/** A database that stops, hangs, is taken away or fills, under a store that is open. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { freshSchema, hasPostgres, ownCluster, type Cluster } from '../../support/postgres.ts'
import { canMount, fill, flags, mounted, put } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

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

/** A store, and what it says of its reach. */
async function watched(url = cluster.url): Promise<{ store: Store; said: boolean[] }> {
  const store = await openOn(serverOf(url), freshSchema())
  const said: boolean[] = []
  store.onReachable((isReachable) => said.push(isReachable))
  return { store, said }
}

/** Asks for everything that needs the database, all at once, and sees it refused. */
async function expectRefused(store: Store): Promise<void> {
  const asked: Promise<unknown>[] = [
    store.fresh(),
    put(store, 'meanwhile', 'x'),
    store.note((db) => db.insertInto('flags').values({ name: 'noted', value: 'x' }).execute()),
    flags(store),
    store.tryLock('poll'),
  ]
  await Promise.all(asked.map((one) => expect(one).rejects.toMatchObject(UNWRITABLE)))
}

describe.skipIf(!hasPostgres())('a database', () => {
  test('that dies is noticed without being asked, refuses, and is back by itself with all it was told', async () => {
    const { store, said } = await watched()
    await put(store, 'kept', 'yes')
    cluster.stop('immediate')
    await expect.poll(() => said).toEqual([false])
    await expectRefused(store)
    cluster.start()
    await expect.poll(() => store.fresh().then(() => 'fresh', String)).toBe('fresh')
    expect(said).toEqual([false, true])
    expect(await flags(store)).toEqual({ kept: 'yes' })
    await put(store, 'later', 'too')
  })

  test('that hangs refuses what is asked of it, and what was asked already', async () => {
    const { store, said } = await watched()
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
      expect(said).toEqual([false])
    } finally {
      cluster.signal('SIGCONT')
    }
    await expect.poll(() => store.fresh().then(() => 'fresh', String)).toBe('fresh')
    expect([said, await flags(store)]).toEqual([[false, true], {}])
  })

  test('that hangs takes a lock from who has it, and gives it to another when it goes on', async () => {
    const { store } = await watched()
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

  test('that takes no writes any more is lost, until it takes them again', async () => {
    const { store, said } = await watched()
    const setReadOnly = (value: string): void => {
      cluster.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      cluster.sql('SELECT pg_reload_conf()')
    }
    setReadOnly('on')
    try {
      await expect
        .poll(() =>
          store.fresh().then(
            () => 'fresh',
            ({ code }) => code as string,
          ),
        )
        .toBe(UNWRITABLE.code)
      await expect(put(store, 'a', 'b')).rejects.toMatchObject(UNWRITABLE)
      expect(said).toEqual([false])
    } finally {
      setReadOnly('off')
    }
    await expect.poll(() => put(store, 'a', 'b').then(() => 'put', String)).toBe('put')
    expect(said).toEqual([false, true])
  })

  test('that takes away our rights refuses writes, and says so until one works again', async () => {
    cluster.sql(`CREATE ROLE bot LOGIN; GRANT CREATE ON DATABASE postgres TO bot`)
    const schema = freshSchema()
    const store = await openOn(serverOf(cluster.urlOf('bot')), schema)
    const said: boolean[] = []
    store.onWritable((isWritable) => said.push(isWritable))
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
      const schema = freshSchema()
      const store = await openOn(serverOf(cluster.url), schema)
      const said: boolean[] = []
      store.onWritable((isWritable) => said.push(isWritable))
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

  test('that ends one connection alone is not lost', async () => {
    const { store, said } = await watched()
    await flags(store)
    cluster.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'postern'`,
    )
    await expect.poll(() => store.fresh().then(() => 'fresh', String)).toBe('fresh')
    expect([said, await flags(store)]).toEqual([[], {}])
  })
})
