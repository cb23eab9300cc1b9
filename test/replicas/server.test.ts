/** One process's connections to a real server: whether it is in reach, and what is cut. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sql } from 'kysely'
import { PostgresError } from '../../src/replicas/failures.ts'
import { PostgresServer } from '../../src/replicas/server.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'

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

describe.skipIf(!hasPostgres())('a server', () => {
  test('connects when it is first asked, and knows its timeline then', async () => {
    const { server, reach, pid } = await scene({ isConnected: false })
    expect([server.timeline, server.session.isConnected, server.reachability]).toEqual([
      null,
      false,
      'reachable',
    ])
    expect(await pid()).toBeGreaterThan(0)
    expect(server.timeline).toEqual({
      systemIdentifier: expect.stringMatching(/^\d+$/) as string,
      timelineId: 1,
    })
    expect([reach, await server.ask('SELECT $1::text AS a', ['b'])]).toEqual([[], [{ a: 'b' }]])
    const answers = await server.askAll([{ text: 'SELECT 1 AS a' }, { text: 'SELECT 2 AS a' }])
    expect(answers).toEqual([[{ a: 1 }], [{ a: 2 }]])
  })

  test('has one lane of queries for each schema', async () => {
    const { server } = await scene({ isConnected: false })
    const [one, two] = [freshSchema(), freshSchema()]
    expect(server.databaseFor(one)).toBe(server.databaseFor(one))
    expect(server.databaseFor(one)).not.toBe(server.databaseFor(two))
  })

  test.each([
    ['lost', 'unreachable'],
    ['login', 'unreachable'],
    ['rolled-back', 'rolled-back'],
  ] as const)('whose session fails by %s is %s until it answers', async (kind, now) => {
    const { server, reach, queryAll, cut, pooled } = await scene()
    const before = await pooled()
    queryAll.mockRejectedValueOnce(new PostgresError(kind, 'x'))
    await expect(server.ask('SELECT 1')).rejects.toMatchObject({ kind })
    expect([reach, server.reachability, cut.mock.calls.length]).toEqual([[now], now, 1])
    await expect.poll(() => pooled().catch(() => before)).not.toEqual(before)
    await server.ensure()
    expect(reach).toEqual([now, 'reachable'])
  })

  test('that is read-only is out of reach, in whichever answer it reports that', async () => {
    const { server, reach } = await scene()
    const on = { text: `SELECT 'on' AS read_only` }
    const off = { text: `SELECT 'off' AS read_only` }
    await server.askAll([off, { text: 'SELECT 1 WHERE false' }, off])
    expect(reach).toEqual([])
    await expect(server.askAll([off, on])).rejects.toMatchObject({ kind: 'read-only' })
    expect(reach).toEqual(['unreachable'])
  })

  test('is in reach for all the mistakes of questions', async () => {
    const { server, reach, cut } = await scene()
    await expect(server.ask('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
    expect([reach, cut.mock.calls]).toEqual([[], []])
  })

  test('that is lost is asked once by all who want to know whether it is back', async () => {
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

  test('is asked where its session ends, and stays in reach', async () => {
    const { server, reach, queryAll } = await scene()
    server.session.cut()
    await expect.poll(() => queryAll.mock.calls.length).toBe(1)
    await server.probe()
    expect([reach, server.session.generation]).toEqual([[], 2])
  })

  test('is out of reach at once where its session is silent', async () => {
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

  test('has its session ask by itself, and nothing once it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { server } = await scene()
    const ask = vi.spyOn(server.turnWaits, 'ask')
    vi.advanceTimersByTime(750)
    expect(ask).toHaveBeenCalledOnce()
    await server[Symbol.asyncDispose]()
    vi.advanceTimersByTime(7500)
    expect(ask).toHaveBeenCalledOnce()
  })

  test('that is closed answers nothing more, by no way, and reports nothing', async () => {
    const { server, reach, pooled, queryAll } = await scene()
    await pooled()
    await server[Symbol.asyncDispose]()
    await expect(pooled()).rejects.toThrow('destroyed')
    queryAll.mockClear()
    await expect(server.ask(PID)).rejects.toMatchObject({ kind: 'lost' })
    expect([reach, server.reachability, queryAll.mock.calls.length]).toEqual([[], 'reachable', 1])
  })
})

describe.skipIf(!hasPostgres())('a server whose content is in doubt', () => {
  test.each([
    ['of one bot', { isOfSeveral: false }, 1],
    ['of several bots before any connection', { isOfSeveral: true, isConnected: false }, 1],
    ['of several bots', { isOfSeveral: true }, 0],
  ])('%s has its session cut, or a connection made anew', async (_what, o, cuts) => {
    const { server, cut, reach } = await scene(o)
    const before = server.timeline
    server.doubt()
    server.doubt()
    expect(cut).toHaveBeenCalledTimes(2 * cuts)
    if (cuts === 0) await expect.poll(() => server.timeline).not.toBe(before)
    expect([server.timeline === null ? null : { ...server.timeline }, reach]).toEqual([before, []])
  })
})
