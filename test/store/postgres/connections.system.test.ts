/** The pool of connections to a real server, and what it makes of those that are lost or slow. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { PostgresPoolClient } from 'kysely'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { QueryConnections } from '../../../src/store/postgres/connections.ts'
import { CommitLostError, PostgresError } from '../../../src/store/postgres/failures.ts'
import { hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'

let cluster: Cluster
beforeAll(async () => {
  if (hasPostgres()) cluster = await sharedCluster()
})

type Connection = PostgresPoolClient & {
  query(sql: string, parameters: unknown[]): Promise<{ command: string; rows: object[] }>
  release(isBroken?: boolean): void
}

function scene({ isOfSeveral = false } = {}) {
  const suspect = vi.fn()
  const findBusy = vi.fn(async (pids: number[]) => pids)
  const admit = vi.fn(async () => {})
  const pool = new QueryConnections(parseAddress(cluster.url), {
    isOfSeveral,
    suspect,
    findBusy,
    admit,
  })
  onTestFinished(() => pool[Symbol.asyncDispose]().catch(() => undefined))
  const lane = pool.lane()
  const connect = async (of = lane) => (await of.connect()) as Connection
  return { pool, lane, connect, suspect, findBusy, admit }
}

/** Connects so often. @returns the connections that were given */
function take(count: number, connect: () => Promise<Connection>) {
  const given: Connection[] = []
  let isOver = false
  for (let n = 0; n < count; n++) {
    const connecting = connect().then((one) => (isOver ? one.release() : given.push(one)))
    // the pool may end first
    connecting.catch(() => undefined)
  }
  onTestFinished(() => {
    isOver = true
    for (const one of given) one.release()
  })
  return given
}

const PID = 'SELECT pg_backend_pid() AS pid'

describe.skipIf(!hasPostgres())('a pooled connection', () => {
  test('a pooled connection is reused after its release and replaced after it was given up', async () => {
    const { connect, admit } = scene()
    const pids = new Set<unknown>()
    for (const isBroken of [undefined, false, true, false]) {
      const one = await connect()
      pids.add(JSON.stringify((await one.query(PID, [])).rows))
      one.release(isBroken)
    }
    expect([pids.size, admit.mock.calls.length]).toEqual([2, 2])
  })

  test('a pooled connection sends BEGIN with the first statement and replaces NUL in parameters', async () => {
    const { connect } = scene()
    const one = await connect()
    expect(await one.query('begin', [])).toEqual({ command: '', rowCount: 0, rows: [] })
    const text = 'SELECT txid_current_if_assigned() IS NULL AS begun, $1::text AS text'
    expect((await one.query(text, ['a\0b'])).rows).toEqual([{ begun: true, text: 'a\u{FFFD}b' }])
    await one.query('CREATE TEMP TABLE undone ()', [])
    expect((await one.query('rollback', [])).command).toBe('ROLLBACK')
    await expect(one.query('SELECT FROM undone', [])).rejects.toMatchObject({ code: '42P01' })
    expect((await one.query(PID, [])).rows).toHaveLength(1)
    one.release()
  })

  test('a pooled connection that is lost in a transaction reports a rollback and is not reused', async () => {
    const { pool, connect } = scene()
    const one = await connect()
    const { rows } = await one.query(PID, [])
    await one.query('begin', [])
    const asked = one.query('SELECT pg_sleep(20)', [])
    pool.cut()
    await expect(asked).rejects.toThrow('Connection terminated')
    const lost = { kind: 'lost', message: 'the connection was lost' }
    await expect(one.query('SELECT 1', [])).rejects.toMatchObject(lost)
    expect(await one.query('rollback', [])).toEqual({ command: 'ROLLBACK', rowCount: 0, rows: [] })
    one.release()
    const next = await connect()
    expect((await next.query(PID, [])).rows).not.toEqual(rows)
    next.release()
  })

  test('a pooled connection that is lost during COMMIT throws `CommitLostError`', async () => {
    const { pool, connect } = scene()
    const one = await connect()
    await one.query('begin', [])
    await one.query('SELECT 1', [])
    const committed = one.query('commit', [])
    pool.cut()
    await expect(committed).rejects.toThrow(CommitLostError)
    one.release()
  })

  test('a pooled connection rejects a commit with a standby warning, and accepts a VACUUM with a warning', async () => {
    const { connect } = scene()
    const one = await connect()
    const warn = `DO $$ BEGIN RAISE WARNING USING MESSAGE = 'x', ERRCODE = '01000'; END $$`
    const message = 'the standby has not confirmed the commit'
    await expect(one.query(warn, [])).rejects.toMatchObject({ kind: 'storage', message })
    expect((await one.query(PID, [])).rows).toHaveLength(1)
    await one.query('CREATE ROLE nobody_of_tests', []).catch(() => undefined)
    await one.query('SET ROLE nobody_of_tests', [])
    expect((await one.query('VACUUM pg_class', [])).command).toBe('VACUUM')
    expect((await one.query(PID, [])).rows).toHaveLength(1)
    one.release(true)
  })
})

describe.skipIf(!hasPostgres())('the connection pool', () => {
  test('the connection pool has eight connections and gives the ninth caller the first one released', async () => {
    const { connect } = scene()
    const given = take(9, connect)
    await expect.poll(() => given.length).toBe(8)
    await new Promise(setImmediate)
    expect(given.length).toBe(8)
    given.shift()?.release()
    await expect.poll(() => given.length).toBe(8)
  })

  test.each([
    ['lost', true],
    ['rolled-back', true],
    ['pooled', false],
  ] as const)(
    'the connection pool discards a connection that admission refuses as %s',
    async (kind, isSuspect) => {
      const { connect, admit, suspect } = scene()
      admit.mockRejectedValueOnce(new PostgresError(kind, 'no'))
      await expect(connect()).rejects.toMatchObject({ kind })
      expect(suspect.mock.calls.length > 0).toBe(isSuspect)
      ;(await connect()).release()
    },
  )

  test('the connection pool suspects the database after half a second without a response', async () => {
    const { connect, suspect, findBusy } = scene()
    const one = await connect()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(vi.getTimerCount()).toBe(0)
    const asked = one.query('SELECT pg_sleep(0.05)', [])
    const others = one.query('SELECT pg_sleep(0.05)', [])
    vi.advanceTimersByTime(500)
    expect(suspect).not.toHaveBeenCalled()
    vi.advanceTimersByTime(250)
    expect(suspect).toHaveBeenCalledOnce()
    expect(findBusy).toHaveBeenCalledOnce()
    await asked
    expect(vi.getTimerCount()).toBe(1)
    await others
    expect(vi.getTimerCount()).toBe(0)
    one.release()
  })

  test('the connection pool ends a slow connection whose backend is idle, and keeps a busy one', async () => {
    const { connect, findBusy } = scene()
    const [busy, dead] = [await connect(), await connect()]
    const pidOf = async (one: Connection) => (await one.query(PID, [])).rows[0] as { pid: number }
    const { pid } = await pidOf(busy)
    findBusy.mockImplementation(async () => [pid])
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const ended = new Set<string>()
    const ask = (one: Connection, name: string) => {
      one.query('SELECT pg_sleep(20)', []).catch(() => ended.add(name))
    }
    ask(busy, 'busy')
    ask(dead, 'dead')
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        vi.advanceTimersByTime(250)
        await new Promise(setImmediate)
      }
    }
    await pass(1750)
    expect([...ended]).toEqual([])
    await pass(250)
    await expect.poll(() => [...ended]).toEqual(['dead'])
    findBusy.mockRejectedValue(new PostgresError('lost', 'gone'))
    await pass(5000)
    expect([...ended]).toEqual(['dead'])
    for (const one of [busy, dead]) one.release(true)
  })

  test('the connection pool cuts all connections except one, and gives none after it was closed', async () => {
    const { pool, connect, admit } = scene()
    const [one, two] = [await connect(), await connect()]
    const [[kept]] = admit.mock.calls as unknown as [[Parameters<typeof pool.cut>[0]]]
    const asked = [one, two].map((each) => each.query('SELECT pg_sleep(0.02) AS done', []))
    pool.cut(kept)
    const ends = await Promise.allSettled(asked)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    for (const each of [one, two]) each.release()
    await pool[Symbol.asyncDispose]()
    await expect(connect()).rejects.toThrow('after calling end')
  })
})
