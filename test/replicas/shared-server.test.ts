/** The stores of several bots on one server: what is the matter with one is not with another. */
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockName } from '../../src/replicas/schema.ts'
import { PostgresServer } from '../../src/replicas/server.ts'
import type { Reachability, Store } from '../../src/store/store.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'
import { put } from '../store/support.ts'
import { openOn } from './scene.ts'

const UNWRITABLE = { code: 'postern_store_unwritable' }

interface Scene {
  cluster: Cluster
  server: PostgresServer
  schemas: string[]
  stores: Store[]
  /** Whether the database was ever said to be lost. */
  said: Reachability[]
}

/** So many stores on one server, the last of which is to go on. */
async function shared(count: number): Promise<Scene> {
  const cluster = await sharedCluster()
  const server = new PostgresServer({ url: cluster.url, isOfSeveral: true })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const schemas = Array.from({ length: count }, freshSchema)
  const stores: Store[] = []
  for (const schema of schemas) stores.push(await openOn(server, schema))
  const said: Reachability[] = []
  server.onReachability((now) => said.push(now))
  return { cluster, server, schemas, stores, said }
}

describe.skipIf(!hasPostgres())('one server for several stores', () => {
  test('keeps the locks of one while the tables of others are locked by somebody', async () => {
    const { cluster, schemas, stores, said } = await shared(9)
    const well = stores.pop() as Store
    const lock = await well.tryLock('poll')
    const somebody = new Client({ host: cluster.folder, user: 'postern', database: 'postgres' })
    await somebody.connect()
    await somebody.query('BEGIN')
    for (const schema of schemas.slice(0, -1)) {
      await somebody.query(`LOCK TABLE ${schema}.state IN ACCESS EXCLUSIVE MODE`)
    }
    for (let round = 0; round < 3; round += 1) {
      const asked = stores.map((store) => expect(store.fresh()).rejects.toMatchObject(UNWRITABLE))
      await well.fresh()
      await put(well, `round${round}`, 'x')
      await Promise.all(asked)
    }
    await somebody.end()
    expect([lock?.isHeld, lock?.signal.aborted, said]).toEqual([true, false, []])
    for (const store of stores) await store.fresh()
  })

  test('keeps the locks of one when another has lost its tables', async () => {
    const { cluster, schemas, stores, said } = await shared(2)
    const [broken, well] = stores as [Store, Store]
    const lock = await well.tryLock('poll')
    const writable: boolean[] = []
    broken.onWritable((isWritable) => writable.push(isWritable))
    cluster.sql(`DROP TABLE ${schemas[0]}.state`)
    await expect(broken.fresh()).rejects.toMatchObject(UNWRITABLE)
    await expect(put(broken, 'a', 'b')).rejects.toMatchObject(UNWRITABLE)
    await put(well, 'a', 'b')
    expect([lock?.isHeld, lock?.signal.aborted, said]).toEqual([true, false, []])
    expect(writable).toEqual([false])
  })

  test('keeps the locks of one when another is put back to an earlier state', async () => {
    const { cluster, schemas, stores, said } = await shared(2)
    const [behind, well] = stores as [Store, Store]
    const lock = await well.tryLock('poll')
    const told: Reachability[] = []
    behind.onReachability((now) => told.push(now))
    await put(behind, 'a', 'b')
    cluster.sql(`UPDATE ${schemas[0]}.state SET epoch = epoch - 1`)
    for (let round = 0; round < 3; round += 1) {
      await expect(behind.fresh()).rejects.toMatchObject(UNWRITABLE)
      await put(well, `round${round}`, 'x')
    }
    expect([lock?.isHeld, lock?.signal.aborted, said]).toEqual([true, false, []])
    expect(told).toEqual(['rolled-back'])
  })

  test('answers one while another asks for more than all of its connections', async () => {
    const { stores } = await shared(2)
    const [greedy, well] = stores as [Store, Store]
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const held = Array.from({ length: 40 }, () =>
      greedy.read((db) => db.connection().execute(() => isOver)),
    )
    await put(well, 'a', 'b')
    end()
    await Promise.all(held)
  })

  test('gives back all that a store had, however many began anew with the connection', async () => {
    const { cluster, server, schemas, stores } = await shared(2)
    const [going] = stores as [Store, Store]
    server.session.cut()
    await Promise.all(Array.from({ length: 5 }, () => going.countSidecars()))
    await going[Symbol.asyncDispose]()
    const held = cluster.sql(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND
      (classid::bigint << 32 | objid::bigint) =
        hashtextextended('${lockName(schemas[0] ?? '', 'presence')}', 0)`)
    expect(held).toBe('0')
  })
})
