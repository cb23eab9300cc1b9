/** Locks of one process, by a database that a test plays. */
import { describe, expect, test, vi } from 'vitest'
import { PostgresError } from '../../src/replicas/failures.ts'
import { giveBack, NamedLocks, unblocked, type LockServer } from '../../src/replicas/locks.ts'
import { lockName } from '../../src/replicas/schema.ts'
import type { Question, Session } from '../../src/replicas/session.ts'
import { Listeners } from '../../src/util/listeners.ts'
import { pauses } from '../support/fake-time.ts'

const BLOCKED = new PostgresError('blocked', 'a lock')
const LOST = new PostgresError('lost', 'gone')
const LOCK = lockName('s', 'rotation')
const TURN = lockName('s', 'poll')

const rowOf = (taken: boolean, epoch?: number) => [
  [{ taken }],
  epoch === undefined ? [] : [{ epoch }],
]

/** A process whose database gives each lock, unless a test has other answers. */
function scene() {
  const asked: Question[][] = []
  const given: Question[] = []
  const lost = new Listeners<'ended'>()
  const offers = new Map<string, (heir: string) => void>()
  const session = {
    isConnected: true,
    isProven: true,
    onLost: lost.add,
    cut: vi.fn(),
    query: vi.fn(async (text: string, parameters: unknown[]) => {
      given.push({ text: /pg_\w+|DELETE/.exec(text)?.[0] ?? '', parameters })
      return []
    }),
  }
  const askAll = vi.fn(async (questions: readonly Question[]): Promise<object[][]> => {
    asked.push([...questions])
    return rowOf(true, questions.length > 1 ? 7 : undefined)
  })
  const turnWaits = {
    offer: (turn: string, callback: (heir: string) => void) => {
      offers.set(turn, callback)
      return () => void offers.delete(turn)
    },
  }
  const server = { session, askAll, turnWaits } as unknown as LockServer
  return { locks: new NamedLocks(server, 's'), session, askAll, asked, given, lost, offers }
}

const callOf = ({ text, parameters }: Question) => [/pg_\w+|INSERT/.exec(text)?.[0], parameters]

describe('a lock', () => {
  test.each([
    ['rotation', false, ['pg_try_advisory_lock', [LOCK]], ['pg_advisory_unlock', [LOCK]]],
    [
      'rotation',
      true,
      ['pg_try_advisory_lock_shared', [LOCK]],
      ['pg_advisory_unlock_shared', [LOCK]],
    ],
    ['poll', false, ['INSERT', ['poll']], ['DELETE', ['poll', ` ${TURN}`]]],
  ] as const)('%s, shared %s, is asked for and given back', async (name, isShared, take, give) => {
    const { locks, asked, given } = scene()
    const taken = await locks.take(name, { isShared })
    expect(asked.map((questions) => questions.map(callOf))).toEqual([[take]])
    expect([taken?.epoch, taken?.lock.isHeld, given]).toEqual([0, true, []])
    await taken?.lock[Symbol.asyncDispose]()
    const [text, parameters] = give
    expect([given, taken?.lock.isHeld]).toEqual([[{ text, parameters }], false])
    await taken?.lock[Symbol.asyncDispose]()
    expect(given.length).toBe(1)
  })

  test('is taken together with the epoch where that is asked for', async () => {
    const { locks, asked } = scene()
    expect(await locks.take('rotation', { withEpoch: true })).toMatchObject({ epoch: 7 })
    expect(asked[0]?.[1]?.text).toContain('SELECT epoch')
    expect(asked[0]?.length).toBe(2)
  })

  test('that another process has is not taken, and can be asked for again', async () => {
    const { locks, askAll, given } = scene()
    askAll.mockResolvedValueOnce([]).mockResolvedValueOnce(rowOf(false))
    expect([await locks.take('rotation'), await locks.take('rotation')]).toEqual([null, null])
    expect([await locks.take('rotation'), given]).toMatchObject([{ epoch: 0 }, []])
  })

  test('is asked for once at a time, and taken once', async () => {
    const { locks, asked } = scene()
    const [first, second] = await Promise.all([locks.take('rotation'), locks.take('rotation')])
    expect([second, await locks.take('rotation'), asked.length]).toEqual([null, null, 1])
    expect(await locks.take('poll')).not.toBeNull()
    await first?.lock[Symbol.asyncDispose]()
    expect(await locks.take('rotation')).not.toBeNull()
  })

  test('ends with the session, is given back no more, and can be taken again', async () => {
    const { locks, lost, given } = scene()
    const taken = await locks.take('rotation')
    expect(taken?.lock.signal.aborted).toBe(false)
    lost.emit('ended')
    expect([taken?.lock.signal.aborted, taken?.lock.isHeld]).toEqual([true, false])
    await taken?.lock[Symbol.asyncDispose]()
    const next = await locks.take('rotation')
    expect([given, next?.lock.isHeld]).toEqual([[], true])
    await next?.lock[Symbol.asyncDispose]()
    expect(given.length).toBe(1)
  })

  test('is held while the session is proven', async () => {
    const { locks, session } = scene()
    const taken = await locks.take('rotation')
    session.isProven = false
    expect([taken?.lock.isHeld, taken?.lock.signal.aborted]).toEqual([false, false])
  })

  test('that is a turn is offered, and given back for whoever asked for it', async () => {
    const { locks, given, offers } = scene()
    await locks.take('rotation')
    expect([...offers.keys()]).toEqual([])
    const turn = await locks.take('poll')
    expect([...offers.keys(), turn?.lock.asked.aborted]).toEqual([TURN, false])
    offers.get(TURN)?.('heir')
    expect([turn?.lock.asked.aborted, turn?.lock.isHeld]).toEqual([true, true])
    await turn?.lock[Symbol.asyncDispose]()
    expect([given[0]?.parameters, offers.size]).toEqual([['poll', `heir ${TURN}`], 0])
  })

  test.each([
    ['the second question', new Error('x'), true, 1],
    ['the connection', LOST, false, 0],
  ])('whose asking fails by %s is not left taken', async (_what, error, isConnected, back) => {
    const { locks, askAll, session, given } = scene()
    session.isConnected = isConnected
    askAll.mockRejectedValueOnce(error)
    await expect(locks.take('poll')).rejects.toBe(error)
    expect(given.map(({ parameters }) => parameters)).toEqual(
      Array.from({ length: back }, () => ['poll', ` ${TURN}`]),
    )
    session.isConnected = true
    expect(await locks.take('poll')).not.toBeNull()
  })

  test('whose row is locked is somebody’s, unless the epoch is asked for too', async () => {
    const { locks, askAll } = scene()
    askAll.mockRejectedValueOnce(BLOCKED)
    expect(await locks.take('poll')).toBeNull()
    askAll.mockRejectedValueOnce(BLOCKED)
    await expect(locks.take('poll', { withEpoch: true })).rejects.toBe(BLOCKED)
  })
})

test('all locks are given back with the store, and one that is being asked for is left', async () => {
  const { locks, given, askAll } = scene()
  for (const name of ['rotation', 'poll'] as const) await locks.take(name)
  const asked = Promise.withResolvers<object[][]>()
  askAll.mockReturnValueOnce(asked.promise)
  const asking = locks.take('sends')
  await locks[Symbol.asyncDispose]()
  expect(given.map(({ text }) => text)).toEqual(['pg_advisory_unlock', 'DELETE'])
  asked.resolve([])
  await asking
})

describe('a query that a lock keeps waiting', () => {
  test('is run eight times, 50 ms after each other, and not after another failure', async () => {
    const made = pauses()
    const query = vi.fn(async () => 'done')
    expect([await unblocked(query), made]).toEqual(['done', []])
    query.mockClear().mockRejectedValueOnce(BLOCKED).mockRejectedValueOnce(BLOCKED)
    expect([await unblocked(query), made]).toEqual(['done', [50, 50]])
    query.mockClear().mockRejectedValue(BLOCKED)
    await expect(unblocked(query)).rejects.toBe(BLOCKED)
    expect([query.mock.calls.length, made.length]).toEqual([8, 9])
    query.mockClear().mockRejectedValue(LOST)
    await expect(unblocked(query)).rejects.toBe(LOST)
    expect([query.mock.calls.length, made.length]).toEqual([1, 9])
  })

  test.each([
    ['blocked on and on', BLOCKED, 8, 1],
    ['lost', LOST, 1, 0],
  ])(
    'gives its lock back with the session alone where it is %s',
    async (_how, error, runs, cuts) => {
      pauses()
      const query = vi.fn(async () => Promise.reject(error))
      const session = { query, cut: vi.fn() }
      await giveBack(session as unknown as Session, { text: 'x', parameters: [1] })
      expect(query.mock.calls.map((call) => [...call])).toEqual(
        Array.from({ length: runs }, () => ['x', [1]]),
      )
      expect(session.cut).toHaveBeenCalledTimes(cuts)
    },
  )
})
