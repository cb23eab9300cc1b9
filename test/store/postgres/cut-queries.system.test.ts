/** One query or connection that fails while the database answers all others. */
import { sql, type Kysely } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Schema } from '../../../src/store/schema.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'
import { flags, put } from '../support.ts'
import { watched } from './scene.ts'

const UNWRITABLE = { code: 'postern_store_unwritable', status: 503, extra: { retryAfter: 2 } }

let cluster: Cluster
let striker: Client | undefined
beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  striker = new Client({ host: cluster.folder, user: 'postern', database: 'postgres' })
  await striker.connect()
})
afterAll(() => striker?.end())

type End = 'pg_terminate_backend' | 'pg_cancel_backend'

/** Ends the connection, or the query, that a run of queries is on. */
async function strike(db: Kysely<Schema>, end: End): Promise<void> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
  const sleeping = sql`SELECT pg_sleep(20)`.execute(db)
  sleeping.catch(() => undefined)
  const isAsleep = `SELECT FROM pg_stat_activity WHERE pid = ${rows[0]?.pid}
    AND state = 'active' AND query LIKE '%pg_sleep%'`
  await expect.poll(async () => (await striker?.query(isAsleep))?.rowCount).toBe(1)
  await striker?.query(`SELECT ${end}(${rows[0]?.pid})`)
  await sleeping
}

const ENDS: End[] = ['pg_terminate_backend', 'pg_cancel_backend']
const insert = (name: string) => (db: Kysely<Schema>) =>
  db.insertInto('flags').values({ name, value: 'x' }).execute()

describe.skipIf(!hasPostgres()).each(ENDS)('a query that is ended by %s', (end) => {
  test.each(['read', 'note', 'write'] as const)(
    'a %s whose query is ended once runs again on another connection, without a notification',
    async (name) => {
      const { store, said } = await watched(cluster.url)
      let runs = 0
      const query = async (db: Kysely<Schema>): Promise<string> => {
        runs += 1
        if (name !== 'read') await insert('a')(db)
        if (runs === 1) await strike(db, end)
        return 'done'
      }
      expect(await store[name](query)).toBe('done')
      expect([runs, said, await flags(store)]).toEqual([2, [], name === 'read' ? {} : { a: 'x' }])
    },
  )

  test('a write whose query is always ended is refused, and reported until a write succeeds', async () => {
    const { store, said } = await watched(cluster.url)
    const striking = store.write(async (db) => {
      await insert('a')(db)
      await strike(db, end)
    })
    await expect(striking).rejects.toMatchObject(UNWRITABLE)
    expect(said).toEqual([false])
    await put(store, 'b', 'x')
    expect([said, await flags(store)]).toEqual([[false, true], { b: 'x' }])
  })
})

describe.skipIf(!hasPostgres())('a commit whose response is lost', () => {
  /** Loses the answer of the next commit, in whose place this is sent. */
  function losing(sent: 'commit' | 'rollback'): void {
    const real = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>
    let isLost = false
    function losingOne(this: Client, ...args: unknown[]): unknown {
      if (isLost || args[0] !== 'commit') return real.apply(this, args)
      isLost = true
      return real.call(this, sent).then(() => {
        throw new Error('Connection terminated unexpectedly')
      })
    }
    const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(losingOne)
    onTestFinished(() => spy.mockRestore())
  }

  test.each([
    ['that the server kept is not repeated', 'commit', 1],
    ['that the server rolled back is repeated', 'rollback', 2],
  ] as const)('a commit with a lost response %s', async (_what, sent, times) => {
    const { store, said } = await watched(cluster.url)
    let runs = 0
    losing(sent)
    const result = await store.write(async (db) => {
      await insert('once')(db)
      return (runs += 1)
    })
    expect([result, runs, said]).toEqual([times, times, []])
    expect(await flags(store)).toEqual({ once: 'x' })
    await put(store, 'later', 'x')
    await store.fresh()
  })
})

describe.skipIf(!hasPostgres())('a lasting error of a reachable database', () => {
  test.each(['53100', '53200', '58030', 'P0001', '55000', '42501'])(
    'a write that fails with SQLSTATE %s is refused at once and succeeds once the cause is gone',
    async (code) => {
      const { store, said, schema } = await watched(cluster.url)
      cluster.sql(`CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'struck' USING ERRCODE = '${code}'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON ${schema}.flags EXECUTE FUNCTION ${schema}.fail()`)
      await expect(put(store, 'a', 'x')).rejects.toMatchObject(UNWRITABLE)
      await expect(store.note(insert('a'))).rejects.toMatchObject(UNWRITABLE)
      expect(said).toEqual([false])
      cluster.sql(`DROP TRIGGER fail ON ${schema}.flags`)
      await put(store, 'b', 'x')
      expect([said, await flags(store)]).toEqual([[false, true], { b: 'x' }])
    },
  )

  test('a store without a free connection refuses reads and recovers once a connection is free', async () => {
    const role = freshSchema()
    cluster.sql(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE postgres TO ${role}`)
    const { store, said } = await watched(cluster.urlOf(role))
    const others = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE usename = '${role}' AND query NOT LIKE '%transaction_read_only%'`
    cluster.sql(`ALTER ROLE ${role} CONNECTION LIMIT 1; ${others}`)
    const reading = flags(store)
    await expect(reading).rejects.toMatchObject(UNWRITABLE)
    expect(said.at(-1)).not.toBe('reachable')
    cluster.sql(`ALTER ROLE ${role} CONNECTION LIMIT -1`)
    await expect.poll(() => put(store, 'a', 'x').then(() => 'put', String)).toBe('put')
    expect(said.at(-1)).not.toBe(false)
  })
})
