/** One process's connections to a real server: whether it is in reach, and what is cut. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sql } from 'kysely'
import { PostgresError } from '../../../src/store/postgres/failures.ts'
import { PostgresServer } from '../../../src/store/postgres/server.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'

let cluster: Cluster
beforeAll(async () => {
  if (hasPostgres()) cluster = await sharedCluster()
})

const PID = 'SELECT pg_backend_pid() AS pid'

/** A server that is connected unless a test has it otherwise. */
async function scene({ isOfSeveral = false, isConnected = true } = {}) {
  const server = new PostgresServer({ url: cluster.url, isOfSeveral })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const reach: string[] = []
  server.onReachability((now) => reach.push(now))
  const pid = async () => (await server.ask<{ pid: number }>(PID))[0]?.pid
  if (isConnected) await pid()
  const queryAll = vi.spyOn(server.session, 'queryAll')
  const cut = vi.spyOn(server.session, 'cut')
  const db = server.databaseFor(freshSchema())
  const pooled = async () =>
    (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)).rows[0]
  return { server, reach, pid, queryAll, cut, pooled }
}

describe.skipIf(!hasPostgres())('`PostgresServer`', () => {
  test('`PostgresServer` connects with its first query and knows the timeline then', async () => {
    const { server, reach, pid } = await scene({ isConnected: false })
    const { timeline, session, reachability } = server
    expect([timeline, session.isConnected, reachability]).toEqual([null, false, 'reachable'])
    expect(await pid()).toBeGreaterThan(0)
    expect(server.timeline).toEqual({
      systemIdentifier: expect.stringMatching(/^\d+$/) as string,
      timelineId: 1,
    })
    expect([reach, await server.ask('SELECT $1::text AS a', ['b'])]).toEqual([[], [{ a: 'b' }]])
    const answers = await server.askAll([{ text: 'SELECT 1 AS a' }, { text: 'SELECT 2 AS a' }])
    expect(answers).toEqual([[{ a: 1 }], [{ a: 2 }]])
  })

  test.each([
    ['lost', 'unreachable'],
    ['login', 'unreachable'],
    ['rolled-back', 'rolled-back'],
  ] as const)(
    '`PostgresServer` with the session error %s is %s until the next response',
    async (kind, now) => {
      const { server, reach, queryAll, cut, pooled } = await scene()
      const before = await pooled()
      queryAll.mockRejectedValueOnce(new PostgresError(kind, 'x'))
      await expect(server.ask('SELECT 1')).rejects.toMatchObject({ kind })
      expect([reach, server.reachability, cut.mock.calls.length]).toEqual([[now], now, 1])
      await expect.poll(() => pooled().catch(() => before)).not.toEqual(before)
      await server.ensure()
      expect(reach).toEqual([now, 'reachable'])
    },
  )

  test('`PostgresServer` is unreachable where any response reports read-only', async () => {
    const { server, reach } = await scene()
    const on = { text: `SELECT 'on' AS read_only` }
    const off = { text: `SELECT 'off' AS read_only` }
    await server.askAll([off, { text: 'SELECT 1 WHERE false' }, off])
    expect(reach).toEqual([])
    await expect(server.askAll([off, on])).rejects.toMatchObject({ kind: 'read-only' })
    expect(reach).toEqual(['unreachable'])
  })

  test('`PostgresServer` that is lost sends one query for all callers that wait for its return', async () => {
    const { server, queryAll, reach } = await scene()
    await server.ensure()
    expect(queryAll).not.toHaveBeenCalled()
    server.lose()
    await Promise.all([server.ensure(), server.ensure(), server.probe()])
    expect(queryAll.mock.calls.map(([[one]]) => one?.text)).toEqual([
      expect.stringContaining('transaction_read_only'),
    ])
    await server.ensure()
    await server.probe()
    expect([queryAll.mock.calls.length, reach]).toEqual([2, ['unreachable', 'reachable']])
  })

  test('`PostgresServer` probes the database once its session has ended, and stays reachable', async () => {
    const { server, reach, queryAll } = await scene()
    server.session.cut()
    await expect.poll(() => queryAll.mock.calls.length).toBe(1)
    await server.probe()
    expect([reach, server.session.generation]).toEqual([[], 2])
  })

  test('`PostgresServer` is unreachable at once where its session is silent', async () => {
    const { server, reach } = await scene()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked = server.session.query('SELECT pg_sleep(20)')
    asked.catch(() => undefined)
    await new Promise(setImmediate)
    vi.advanceTimersByTime(1000)
    await expect.poll(() => reach, { interval: 0 }).toEqual(['unreachable'])
    await expect(asked).rejects.toThrow('Connection terminated')
  })

  test('`PostgresServer` that is closed rejects queries and reports nothing', async () => {
    const { server, reach, pooled, queryAll } = await scene()
    await pooled()
    await server[Symbol.asyncDispose]()
    await expect(pooled()).rejects.toThrow('destroyed')
    queryAll.mockClear()
    await expect(server.ask(PID)).rejects.toMatchObject({ kind: 'lost' })
    expect([reach, server.reachability, queryAll.mock.calls.length]).toEqual([[], 'reachable', 1])
  })
})

describe.skipIf(!hasPostgres())('`PostgresServer.doubt`', () => {
  test.each([
    ['of one bot', { isOfSeveral: false }, 1],
    ['of several bots before any connection', { isOfSeveral: true, isConnected: false }, 1],
    ['of several bots', { isOfSeveral: true }, 0],
  ])(
    '`PostgresServer.doubt` %s cuts the session or makes a new connection',
    async (_what, o, cuts) => {
      const { server, cut, reach } = await scene(o)
      const before = server.timeline
      server.doubt()
      server.doubt()
      expect(cut).toHaveBeenCalledTimes(2 * cuts)
      if (cuts === 0) await expect.poll(() => server.timeline).not.toBe(before)
      expect(server.timeline === null ? null : { ...server.timeline }).toEqual(before)
      expect(reach).toEqual([])
    },
  )
})
