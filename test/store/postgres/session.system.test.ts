/** The session with a real server: its one connection, what it knows of it, and how it loses it. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { DatabaseClient } from '../../../src/store/postgres/client.ts'
import { PostgresError } from '../../../src/store/postgres/failures.ts'
import { Session, type SessionLoss } from '../../../src/store/postgres/session.ts'
import { passing } from '../../support/fake-time.ts'
import { hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'

let cluster: Cluster
beforeAll(async () => {
  if (hasPostgres()) cluster = await sharedCluster()
})

const CLOSED = expect.objectContaining({ kind: 'lost', message: 'the store is closed' }) as Error
const PID = 'SELECT pg_backend_pid() AS pid'

/** A session that is not connected yet. */
function scene(admit: (client: DatabaseClient) => Promise<void> = async () => {}) {
  const admitted = vi.fn(admit)
  const ask = vi.fn(async () => {})
  const session = new Session(parseAddress(cluster.url), admitted, ask)
  onTestFinished(() => session[Symbol.asyncDispose]())
  const losses: SessionLoss[] = []
  session.onLost((how) => losses.push(how))
  const pid = async () => (await session.query<{ pid: number }>(PID))[0]?.pid
  /** Has the server end its connection. */
  const kill = async () => {
    await other().query('SELECT pg_terminate_backend($1, 1000)', [await pid()])
  }
  const other = () => {
    const one = new Session(parseAddress(cluster.url), async () => {}, ask)
    onTestFinished(() => one[Symbol.asyncDispose]())
    return one
  }
  return { session, admitted, ask, losses, pid, kill, other }
}

describe.skipIf(!hasPostgres())('`Session`', () => {
  test('`Session` connects once, with its first query, and only where admission succeeds', async () => {
    const { session, admitted, pid } = scene()
    expect([session.isConnected, session.isProven, session.generation]).toEqual([false, false, 0])
    const [one, two] = await Promise.all([pid(), pid()])
    expect([one === two, admitted.mock.calls.length]).toEqual([true, 1])
    expect([session.isConnected, session.isProven, session.generation]).toEqual([true, true, 1])
    const refused = scene(() => Promise.reject(new Error('not this one')))
    await expect(refused.session.query('SELECT 1')).rejects.toThrow('not this one')
    expect([refused.session.isConnected, refused.session.generation]).toEqual([false, 0])
    expect(refused.losses).toEqual([])
    const [[client]] = refused.admitted.mock.calls as [[DatabaseClient]]
    const left = () => session.query('SELECT FROM pg_stat_activity WHERE pid = $1', [client.pid])
    await expect.poll(left).toEqual([])
  })

  test('`Session` is proven by a response and not by its connection', async () => {
    const { session, pid } = scene()
    for (let times = 0; times < 2; times += 1) {
      const asked = session.query('SELECT pg_sleep(0.05)')
      await expect.poll(() => session.isConnected, { interval: 1 }).toBe(true)
      expect(session.isProven).toBe(false)
      await asked
      expect(session.isProven).toBe(true)
      session.cut()
    }
    await pid()
  })

  test('`Session` answers queries in order, also after one that failed', async () => {
    const { session, losses } = scene()
    const set = { text: `SELECT set_config('postern.test', $1, false) AS value`, parameters: ['a'] }
    const show = { text: `SELECT current_setting('postern.test') AS value` }
    expect(await session.queryAll([set, show])).toEqual([[{ value: 'a' }], [{ value: 'a' }]])
    const failing = session.queryAll([{ text: 'SELECT 1 / 0' }, { ...set, parameters: ['b'] }])
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(await session.query(show.text)).toEqual([{ value: 'b' }])
    expect([session.generation, losses]).toEqual([1, []])
  })

  test('`Session` connects again after the server ended its connection', async () => {
    const { session, losses, kill, pid } = scene()
    const before = await pid()
    await kill()
    expect(await pid()).not.toBe(before)
    expect([losses, session.generation]).toEqual([['ended'], 2])
  })

  describe('`Session` with a failing connection', () => {
    const ASKED = 'SELECT 1 AS a'
    /** Has so many connections fail it, each after a while. */
    function failing(times: number, afterMs = 0) {
      const pass = passing()
      const query = Reflect.get(DatabaseClient.prototype, 'query') as () => unknown
      const failed: unknown[] = []
      const spy = vi.spyOn(DatabaseClient.prototype, 'query')
      onTestFinished(() => spy.mockRestore())
      spy.mockImplementation(function (this: DatabaseClient, ...asked: unknown[]) {
        if (asked[0] !== ASKED || failed.length === times) {
          return Reflect.apply(query, this, asked) as never
        }
        failed.push(asked)
        pass(afterMs)
        return Promise.reject(new PostgresError('lost', 'gone')) as never
      })
      return failed
    }

    test.each([
      ['a lost connection', 1, 0, true, [{ a: 1 }], 1],
      ['two lost connections', 2, 0, true, 'gone', 2],
      ['a connection lost late', 1, 1000, true, 'gone', 1],
      ['a lost new connection', 1, 0, false, 'gone', 1],
    ])(
      '`Session` repeats a query at most once, and only within a second, after %s',
      async (_how, times, afterMs, isOld, expected, count) => {
        const { session, pid, losses } = scene()
        if (isOld) await pid()
        const failed = failing(times, afterMs)
        const answer = await session.query(ASKED).catch(({ message }: Error) => message)
        expect(answer).toEqual(expected)
        expect(failed).toEqual(Array.from({ length: count }, () => [ASKED, []]))
        expect(losses).toEqual(Array.from({ length: count }, () => 'ended'))
      },
    )
  })

  test('`Session` does not repeat a query after an error of the query', async () => {
    const { session, admitted } = scene()
    await session.query('CREATE TEMP SEQUENCE asked')
    await expect(session.query(`SELECT 1 / (nextval('asked') - 1)`)).rejects.toThrow('zero')
    expect(await session.query(`SELECT nextval('asked')::int AS n`)).toEqual([{ n: 2 }])
    expect(admitted).toHaveBeenCalledOnce()
  })

  test('`Session.cut` rejects running queries and reports the loss once', async () => {
    const { session, losses, pid } = scene()
    session.cut()
    await pid()
    session.cut()
    session.cut()
    expect([session.isConnected, session.isProven, losses]).toEqual([false, false, ['ended']])
    expect(await pid()).toBeDefined()
    expect(session.generation).toBe(2)
  })

  test('`Session` is proven for two seconds after its last response, by the monotonic and the system clock', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { session, pid } = scene()
    const prove = async () => {
      vi.advanceTimersByTime(1)
      await pid()
    }
    await prove()
    vi.advanceTimersByTime(1999)
    expect(session.isProven).toBe(true)
    vi.advanceTimersByTime(1)
    expect(session.isProven).toBe(false)
    await prove()
    vi.setSystemTime(Date.now() + 2000)
    expect(session.isProven).toBe(false)
    await prove()
    vi.setSystemTime(Date.now() - 100_000)
    expect(session.isProven).toBe(true)
  })

  test('`Session` without a response for a second reports silence and does not repeat the query', async () => {
    const { session, losses, pid } = scene()
    await pid()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked = session.query('SELECT pg_sleep(20)')
    const turn = () => new Promise(setImmediate)
    await turn()
    vi.advanceTimersByTime(999)
    await turn()
    expect(losses).toEqual([])
    vi.advanceTimersByTime(1)
    await expect(asked).rejects.toThrow('Connection terminated')
    expect([losses, session.generation]).toEqual([['silent'], 1])
    await pid()
    vi.advanceTimersByTime(5000)
    await turn()
    expect(losses).toEqual(['silent'])
  })

  test('`Session` polls every 750 ms while it is connected', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { session, ask, pid } = scene()
    vi.advanceTimersByTime(10_000)
    expect(ask).not.toHaveBeenCalled()
    await pid()
    vi.advanceTimersByTime(749)
    expect(ask).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(ask).toHaveBeenCalledOnce()
    ask.mockRejectedValueOnce(new Error('lost'))
    vi.advanceTimersByTime(750)
    session.cut()
    vi.advanceTimersByTime(7500)
    expect(ask).toHaveBeenCalledTimes(2)
    await pid()
    vi.advanceTimersByTime(750)
    expect(ask).toHaveBeenCalledTimes(3)
    await session[Symbol.asyncDispose]()
    vi.advanceTimersByTime(7500)
    expect([ask.mock.calls.length, vi.getTimerCount()]).toEqual([3, 0])
  })

  test('`Session` receives notifications of other processes', async () => {
    const { session, pid, other } = scene()
    const heard: string[] = []
    session.onNotified((note) => heard.push(note))
    await pid()
    await other().query(`SELECT pg_notify('postern', 'a note')`)
    await expect.poll(() => heard).toEqual(['a note'])
  })

  test('`Session` that is closed rejects queries, and its backend ends', async () => {
    const { session, losses, pid, other } = scene()
    const own = await pid()
    await session[Symbol.asyncDispose]()
    await expect(session.query('SELECT 1')).rejects.toThrow(CLOSED)
    expect([session.isConnected, losses]).toEqual([false, []])
    const watching = other()
    const left = () => watching.query('SELECT FROM pg_stat_activity WHERE pid = $1', [own])
    await expect.poll(left).toEqual([])
  })
})
