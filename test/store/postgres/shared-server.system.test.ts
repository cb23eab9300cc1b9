/** The stores of several bots on one server: what is the matter with one is not with another. */
import { Client } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { takeAlone } from '../../../src/store/postgres/open-lock.ts'
import { presenceOf, turnsOf } from '../../../src/store/postgres/schema.ts'
import { PostgresServer } from '../../../src/store/postgres/server.ts'
import type { Reachability, Store, StoreLock, TurnName } from '../../../src/store/store.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'
import { put } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

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

/** Stores of a process that wait for turns which another one has. */
async function waiting(count: number, turn: TurnName = 'poll') {
  const scene = await shared(count)
  const other = serverOf((await sharedCluster()).url)
  const locks: (StoreLock | null)[] = []
  for (const schema of scene.schemas) {
    locks.push(await (await openOn(other, schema)).tryLock(turn))
  }
  const end = new AbortController()
  const free = new Set<number>()
  const waits = scene.stores.map((store, n) =>
    store.untilFree(turn, end.signal).then(() => void free.add(n)),
  )
  const wanted = scene.schemas.map((schema) => `SELECT wanted FROM ${turnsOf(schema)}`)
  const areWanted = `SELECT bool_and(wanted) FROM (${wanted.join(' UNION ALL ')}) AS all_`
  await expect.poll(() => scene.cluster.sql(areWanted)).toBe('t')
  return { ...scene, has: { other, locks, end, free, waits } }
}

describe.skipIf(!hasPostgres())('a `PostgresServer` with several stores', () => {
  test('a lock of one store survives while the tables of eight other stores are locked', async () => {
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

  test('a lock of one store survives while another store is rolled back', async () => {
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

  test('a store answers while another store requests more connections than the pool has', async () => {
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

  test('a process checks the holders of all turns by one query per beat, and a dead holder ends the waits', async () => {
    const { server, stores, has } = await waiting(5)
    const asked = vi.spyOn(server.session, 'queryAll')
    const isBeat = ({ text }: { text: string }): boolean => text.includes('unnest')
    const questions = () => asked.mock.calls.flatMap(([some]) => some)
    await expect.poll(() => questions().filter(isBeat).length).toBeGreaterThan(1)
    const [first] = questions().filter(isBeat)
    expect(first?.parameters?.flat()).toEqual([expect.any(Number)])
    expect(questions().every((one) => isBeat(one) || one.text === 'SELECT 1')).toBe(true)
    expect(has.free.size).toBe(0)
    has.other.session.cut()
    await Promise.all(has.waits)
    for (const store of stores) expect((await store.tryLock('poll'))?.isHeld).toBe(true)
  })

  test('a wait for a turn ends when that turn is released, and other waits continue', async () => {
    const { server, stores, has } = await waiting(3)
    vi.spyOn(server.turnWaits, 'ask').mockResolvedValue()
    await has.locks[1]?.[Symbol.asyncDispose]()
    await has.waits[1]
    expect([...has.free]).toEqual([1])
    expect((await stores[1]?.tryLock('poll'))?.isHeld).toBe(true)
    expect(await stores[0]?.tryLock('poll')).toBeNull()
  })

  test.each(['poll', 'outbox'] as const)(
    'a wait for the turn `%s` ends with its signal, with a lost session and for a free turn',
    async (turn) => {
      const { server, stores, has } = await waiting(2, turn)
      expect([...has.free]).toEqual([])
      has.end.abort()
      await Promise.all([...has.waits, stores[0]?.untilFree(turn, has.end.signal)])
      const signal = new AbortController().signal
      const again = stores[0]?.untilFree(turn, signal)
      await server.probe()
      server.session.cut()
      await again
      await has.locks[0]?.[Symbol.asyncDispose]()
      await stores[0]?.untilFree(turn, signal)
    },
  )

  test('a store whose connection was replaced is in use until it is closed, and leaves no presence row', async () => {
    const { cluster, server, schemas, stores } = await shared(2)
    const [going] = stores as [Store, Store]
    server.session.cut()
    await server.probe()
    await Promise.all(Array.from({ length: 5 }, () => going.fresh()))
    const alone = takeAlone(serverOf(cluster.url), schemas[0] ?? '')
    await expect(alone).rejects.toMatchObject({ code: 'store-in-use' })
    await going[Symbol.asyncDispose]()
    const [gone, left] = schemas.map((schema) => `(SELECT count(*) FROM ${presenceOf(schema)})`)
    await stores[1]?.fresh()
    expect(cluster.sql(`SELECT ${gone}, ${left}`)).toBe('0|1')
  })
})
