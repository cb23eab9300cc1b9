/** The route of polls, over a queue, a webhook and other sidecars that are played. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fastify } from 'fastify'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import { updateRoutes, type UpdateRouteParts } from '../../src/http/routes/updates.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { NO_NEWS } from '../../src/updates/delivery-loop.ts'
import { pauses } from '../support/fake-time.ts'

let paused: number[]
beforeEach(() => {
  paused = pauses()
})

const UPDATES = [{ updateId: 1 }, { updateId: 2 }]
const EMPTY = '{"ok":true,"result":[]}'
const AS_SENT = JSON.stringify({ ok: true, result: UPDATES })

interface Scene {
  /** The answer of the service; an error to throw. */
  poll?: () => Promise<unknown>
  open?: () => Promise<{ changed: boolean; updates: unknown[] }>
  turns?: UpdateRouteParts['turns']
  wasTakenOver?: boolean
  refusePoll?: () => Promise<unknown>
  lost?: AbortSignal
  begin?: () => Promise<never>
  hasKey?: boolean
  heads?: unknown[]
  recordConfirmed?: () => Promise<never>
}

const answer = (result: unknown) => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ ok: true, result })),
  envelope: { ok: true, result: new Unseen(result) },
})

function scene(o: Scene = {}) {
  paused.length = 0
  const log: unknown[] = []
  const pollsEnd = new AbortController()
  const stopping = new AbortController()
  const parts = {
    upstream: {
      poll: (asked: { query: string; timeoutSeconds: number }) => {
        log.push(['poll', asked.query, asked.timeoutSeconds])
        return (o.poll ?? (async () => answer(UPDATES)))()
      },
    },
    sightings: { readUpdates: () => o.heads ?? UPDATES },
    incoming:
      o.hasKey === false
        ? null
        : {
            open: (_unseen: unknown, { hasMore }: { hasMore: boolean }) => {
              log.push(['open', hasMore])
              return (o.open ?? (async () => ({ changed: false, updates: [] })))()
            },
          },
    polls: {
      begin: () => ({
        wasTakenOver: () => o.wasTakenOver === true,
        takenOver: (by?: string) => log.push(['taken over', by]),
      }),
    },
    backlog: { recordPoll: (_heads: unknown[], limit: number) => log.push(['limit', limit]) },
    storeReach: { begin: o.begin ?? (async () => o.lost ?? new AbortController().signal) },
    recordConfirmed:
      o.recordConfirmed ?? (async (below: number) => void log.push(['confirmed', below])),
    onPolled: (code: string | null) => log.push(['polled', code]),
    webhook: { refusePoll: o.refusePoll ?? (async () => null), pollsEnd: pollsEnd.signal },
    turns: o.turns ?? null,
    consumers: { queue: { isShared: false } },
    news: NO_NEWS,
  } as unknown as UpdateRouteParts
  const app = fastify()
  app.decorateRequest('client', null)
  onTestFinished(() => app.close())
  app.setErrorHandler((error, _request, reply) =>
    reply.code(503).send({ code: (error as Refusal).code }),
  )
  updateRoutes(parts)(app, {
    stopping: stopping.signal,
    authorize: () => {},
    admit: () => Promise.resolve(),
  })
  const get = async (query = '') => (await app.inject(`/updates${query}`)).body
  return { get, log, pollsEnd, stopping }
}

const failed = (error: Error) => async (): Promise<never> => {
  throw error
}

describe('a poll', () => {
  test('is passed on, and records what it confirms before', async () => {
    const { get, log } = scene()
    expect(await get('?offset=7&timeout=3&limit=2')).toBe(AS_SENT)
    expect(log).toEqual([
      ['confirmed', 7],
      ['poll', 'offset=7&timeout=3&limit=2', 3],
      ['polled', null],
      ['limit', 2],
      ['open', true],
    ])
  })

  test.each([
    ['?offset=2&offset=9.5', 9, 0, 100],
    ['?offset=x&timeout=x&limit=x', 0, 0, 0],
    ['?timeout=9999&limit=9999', 0, 50, 100],
    ['?timeout=&limit=&offset=', 0, 50, 100],
    ['?timeout=-4&limit=-1&offset=-3', 0, 0, 0],
  ])('%s counts within our own bounds', async (query, below, timeoutS, limit) => {
    const { get, log } = scene()
    await get(query)
    expect(log).toContainEqual(['confirmed', below])
    expect(log).toContainEqual(['poll', query.slice(1), timeoutS])
    expect(log).toContainEqual(['limit', limit])
  })

  test('gives opened updates where opening has changed them, and none is opened without a key', async () => {
    const opened = { changed: true, updates: [{ updateId: 1, text: 'x' }] }
    expect(JSON.parse(await scene({ open: async () => opened }).get())).toMatchObject({
      result: opened.updates,
    })
    const keyless = scene({ hasKey: false })
    expect(await keyless.get()).toBe(AS_SENT)
    expect(keyless.log).not.toContainEqual(['open', false])
  })

  test('of which nothing comes, or that the service refuses, opens nothing', async () => {
    const none = scene({ poll: async () => answer([]), heads: [] })
    expect(await none.get()).toBe(EMPTY)
    const envelope = { ok: false, error: { status: 409, code: 'conflict', message: '' } }
    const refused = scene({ poll: async () => ({ ...answer([]), envelope }) })
    expect(await refused.get()).toBe(EMPTY)
    expect(refused.log).toContainEqual(['polled', 'conflict'])
    for (const { log } of [none, refused]) {
      expect(log.flat()).not.toContain('open')
    }
  })

  test('asks nothing of the service where what it confirms cannot be recorded', async () => {
    const { get, log } = scene({ recordConfirmed: failed(new Refusal('postern_store_unwritable')) })
    expect(await get()).toContain('postern_store_unwritable')
    expect(log).toEqual([])
  })

  test('is refused before it is made where the store fails', async () => {
    const { get, log } = scene({ begin: failed(new Refusal('postern_store_unwritable')) })
    expect([await get(), log]).toEqual(['{"code":"postern_store_unwritable"}', []])
  })

  test('whose updates cannot be opened for a failure of ours is answered after a pause', async () => {
    const { get } = scene({ open: failed(new Refusal('postern_store_unwritable')) })
    expect(await get()).toContain('postern_store_unwritable')
    expect(paused).toEqual([1000])
  })

  test('is refused while a webhook is set, and ends with an empty list once one is', async () => {
    const refused = { ...answer([]), status: 409, body: Buffer.from('refused') }
    expect(await scene({ refusePoll: async () => refused }).get()).toBe('refused')
    const set = scene({ open: async () => (set.pollsEnd.abort(), { changed: false, updates: [] }) })
    expect(await set.get()).toBe(EMPTY)
    const ended = scene({ poll: async () => (ended.stopping.abort(), Promise.reject(new Error())) })
    expect(await ended.get()).toBe(EMPTY)
  })

  test('ends with nothing where the database is out of reach meanwhile', async () => {
    const gone = new AbortController()
    const { get } = scene({ lost: gone.signal, open: failed(new Error('x')) })
    gone.abort()
    expect(await get()).toBe('{"code":"postern_store_unwritable"}')
  })

  test.each([
    ['nonsense of the service', new NoResponseError('postern_upstream_invalid', 'x'), [1000]],
    ['a failure of ours', new Refusal('postern_store_unwritable'), [1000]],
    ['no answer', new NoResponseError('postern_upstream_timeout', 'x'), []],
  ])(
    'that ends in %s is answered after a pause where a bot would ask on and on',
    async (_name, error, waits) => {
      expect(await scene({ poll: failed(error) }).get()).toContain(error.code)
      expect(paused).toEqual(waits)
    },
  )
})

describe('a poll among replicas', () => {
  /** `first`: as it is when the poll begins, `turn` without it. */
  const turnsOf = (
    turn: { isHeld: boolean } | null,
    o: { log?: unknown[]; isWanted?: boolean; first?: () => Promise<null> } = {},
  ) => {
    const given = turn && {
      get isHeld() {
        return turn.isHeld
      },
      [Symbol.asyncDispose]: async () => void o.log?.push('given back'),
    }
    return {
      tryTake: o.first ?? (async () => given),
      take: async () => (o.first === undefined ? null : given),
      isWanted: async () => o.isWanted === true,
    } as never
  }

  test('gives nothing where its turn was lost while updates were opened, or it is taken over', async () => {
    const turn = { isHeld: true }
    const lost = scene({
      turns: turnsOf(turn),
      open: async () => ((turn.isHeld = false), { changed: false, updates: [] }),
    })
    expect(await lost.get()).toBe(EMPTY)
    expect(lost.log).toContainEqual(['open', false])
    const alone = scene({ wasTakenOver: true })
    expect(await alone.get()).toBe(AS_SENT)
    expect(alone.log).toContainEqual(['taken over', undefined])
  })

  test('gives updates in its turn alone, which is given back', async () => {
    const back: unknown[] = []
    const ours = scene({ turns: turnsOf({ isHeld: true }, { log: back }) })
    expect(await ours.get()).toBe(AS_SENT)
    expect(back).toEqual(['given back'])
    for (const turn of [null, { isHeld: false }]) {
      const others = scene({ turns: turnsOf(turn) })
      expect(await others.get()).toBe(EMPTY)
      expect(others.log).not.toContainEqual(['open', false])
    }
  })

  test('begins once the turn was asked for, and gives updates where it has it later', async () => {
    const asked = Promise.withResolvers<null>()
    const { get, log } = scene({ turns: turnsOf({ isHeld: true }, { first: () => asked.promise }) })
    const got = get()
    await nextTurn()
    expect(log).not.toContainEqual(expect.arrayContaining(['poll']))
    asked.resolve(null)
    expect(await got).toBe(AS_SENT)
  })

  test('is made while the database is out of reach, and gives nothing of it', async () => {
    const first = async (): Promise<null> => {
      throw new Refusal('postern_store_unwritable', 'the database is out of reach')
    }
    const { get, log } = scene({ turns: turnsOf(null, { first }) })
    expect(await get()).toContain('postern_store_unwritable')
    expect(log).toContainEqual(expect.arrayContaining(['poll']))
  })

  test('that another one has ended leaves that one alone for two seconds, as long as it may wait', async () => {
    const taken = { wasTakenOver: true, turns: turnsOf({ isHeld: true }, { isWanted: true }) }
    for (const [query, most] of [
      ['?timeout=50', 2000],
      ['?timeout=1', 1000],
    ] as const) {
      const { get, log } = scene(taken)
      expect(await get(query)).toBe(EMPTY)
      expect(log).toContainEqual(['taken over', 'replica'])
      expect(paused[0]).toBeGreaterThan(most - 500)
      expect(paused[0]).toBeLessThanOrEqual(most)
    }
    const stranger = scene({ wasTakenOver: true, turns: turnsOf({ isHeld: true }) })
    expect(await stranger.get()).toBe(AS_SENT)
    expect(stranger.log).toContainEqual(['taken over', undefined])
  })
})
