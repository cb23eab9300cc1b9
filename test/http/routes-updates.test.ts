/** The route of polls, over a queue, a webhook and other sidecars that are played. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fastify } from 'fastify'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { NoResponseError, TooLargeAnswerError, Refusal } from '../../src/errors.ts'
import { updateRoutes } from '../../src/http/routes/updates.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { BotPolls, type BotPollsParts } from '../../src/updates/bot-polls.ts'
import { NO_NEWS, type LoopNews } from '../../src/updates/delivery-loop.ts'
import { QueueReader, type QueueReaderParts } from '../../src/updates/queue-reader.ts'
import type { PollRequest } from '../../src/service/client.ts'
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
  poll?: (asked: PollRequest) => Promise<unknown>
  open?: () => Promise<{ changed: boolean; updates: unknown[] }>
  turns?: QueueReaderParts['turns']
  news?: LoopNews
  limits?: object
  wasTakenOver?: boolean
  refusePoll?: () => Promise<unknown>
  fresh?: () => Promise<never>
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
  const limits = { pollTimeoutMaxS: 50, pollLimitMax: 100, ...o.limits }
  const reader = new QueueReader({
    upstream: {
      poll: (asked: PollRequest) => {
        log.push(['poll', asked.query, asked.timeoutSeconds])
        return (o.poll ?? (async () => answer(UPDATES)))(asked)
      },
    },
    limits: () => limits,
    sightings: { readUpdates: () => o.heads ?? UPDATES },
    incoming:
      o.hasKey === false
        ? null
        : {
            open: (_unseen: unknown, { hasMore }: { hasMore: boolean }) => {
              log.push(['open', hasMore])
              return (o.open ?? (async () => ({ changed: false, updates: UPDATES })))()
            },
          },
    polls: {
      begin: () => ({
        wasTakenOver: () => o.wasTakenOver === true,
        takenOver: (by?: string) => log.push(['taken over', by]),
      }),
    },
    backlog: { recordPoll: (_heads: unknown[], limit: number) => log.push(['limit', limit]) },
    store: { fresh: o.fresh ?? (async () => {}) },
    recordConfirmed:
      o.recordConfirmed ?? (async (below: number) => void log.push(['confirmed', below])),
    onPolled: (code: string | null) => log.push(['polled', code]),
    turns: o.turns ?? null,
  } as unknown as QueueReaderParts)
  const parts = {
    reader,
    webhook: { refusePoll: o.refusePoll ?? (async () => null), pollsEnd: pollsEnd.signal },
    consumers: { queue: { isShared: false } },
    news: o.news ?? NO_NEWS,
  } as unknown as BotPollsParts
  const app = fastify()
  app.decorateRequest('client', null)
  app.decorateRequest('stillMay', null)
  app.addHook('onRequest', async (request) => void (request.stillMay = OWN_CALL))
  onTestFinished(() => app.close())
  app.setErrorHandler((error, _request, reply) =>
    reply.code(503).send({ code: (error as Refusal).code }),
  )
  updateRoutes(new BotPolls(parts))(app, {
    stopping: stopping.signal,
    authorize: () => {},
    takeCall: () => {},
    admit: () => Promise.resolve(OWN_CALL),
  })
  const get = async (query = '') => (await app.inject(`/updates${query}`)).body
  return { get, log, pollsEnd, stopping, reader, limits }
}

const failed = (error: Error) => async (): Promise<never> => {
  throw error
}

test.each([
  ['?offset=2&offset=9.5', 9, 0, 100],
  ['?offset=x&timeout=x&limit=x', 0, 0, 0],
  ['?timeout=9999&limit=9999', 0, 50, 100],
  ['?timeout=&limit=&offset=', 0, 50, 100],
  ['?timeout=-4&limit=-1&offset=-3', 0, 0, 0],
])(
  'a poll with the query %s is recorded with numbers within the API’s bounds',
  async (query, below, timeoutS, limit) => {
    const { get, log } = scene()
    await get(query)
    if (below > 0) expect(log).toContainEqual(['confirmed', below])
    else expect(log).not.toContainEqual(expect.arrayContaining(['confirmed']))
    expect(log).toContainEqual(['poll', query.slice(1), timeoutS])
    expect(log).toContainEqual(['limit', limit])
  },
)

test('a poll whose confirmed updates cannot be recorded does not reach the service', async () => {
  const { get, log } = scene({ recordConfirmed: failed(new Refusal('postern_store_unwritable')) })
  expect(await get('?offset=2')).toContain('postern_store_unwritable')
  expect(log).toEqual([])
})

test('a poll is refused and does not reach the service while the store fails', async () => {
  const { get, log } = scene({ fresh: failed(new Refusal('postern_store_unwritable')) })
  expect([await get(), log]).toEqual(['{"code":"postern_store_unwritable"}', []])
})

test('a poll whose updates the sidecar cannot open is refused after a pause of a second', async () => {
  const { get } = scene({ open: failed(new Refusal('postern_store_unwritable')) })
  expect(await get()).toContain('postern_store_unwritable')
  expect(paused).toEqual([1000])
})

test('a poll is refused while a webhook is set, and ends empty once a webhook is set or the listener stops', async () => {
  const refused = { ...answer([]), status: 409, body: Buffer.from('refused') }
  expect(await scene({ refusePoll: async () => refused }).get()).toBe('refused')
  const set = scene({ open: async () => (set.pollsEnd.abort(), { changed: false, updates: [] }) })
  expect(await set.get()).toBe(EMPTY)
  const ended = scene({ poll: async () => (ended.stopping.abort(), Promise.reject(new Error())) })
  expect(await ended.get()).toBe(EMPTY)
})

test('a poll during which the database becomes unreachable is refused', async () => {
  const one = scene({ open: async () => (one.reader.lose(), Promise.reject(new Error('x'))) })
  expect(await one.get()).toBe('{"code":"postern_store_unwritable"}')
})

test.each([
  ['nonsense of the service', new NoResponseError('postern_upstream_invalid', 'x'), [1000]],
  ['a failure of ours', new Refusal('postern_store_unwritable'), [1000]],
  ['no answer', new NoResponseError('postern_upstream_timeout', 'x'), []],
])(
  'a poll that fails with %s is answered after a pause, unless the service was waited for',
  async (_name, error, waits) => {
    expect(await scene({ poll: failed(error) }).get()).toContain(error.code)
    expect(paused).toEqual(waits)
  },
)

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

test('a poll that loses its turn among replicas while updates are opened returns none', async () => {
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

test('a poll returns updates only while it holds the turn among replicas, and releases the turn', async () => {
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

test('a poll starts once it has requested the turn among replicas, and returns updates if the turn follows', async () => {
  const asked = Promise.withResolvers<null>()
  const { get, log } = scene({ turns: turnsOf({ isHeld: true }, { first: () => asked.promise }) })
  const got = get()
  await nextTurn()
  expect(log).not.toContainEqual(expect.arrayContaining(['poll']))
  asked.resolve(null)
  expect(await got).toBe(AS_SENT)
})

test('a poll while the database is unreachable reaches the service and returns no updates', async () => {
  const first = async (): Promise<null> => {
    throw new Refusal('postern_store_unwritable', 'the database is out of reach')
  }
  const { get, log } = scene({ turns: turnsOf(null, { first }) })
  expect(await get()).toContain('postern_store_unwritable')
  expect(log).toContainEqual(expect.arrayContaining(['poll']))
})

test('a poll ended by a replica’s poll pauses for up to two seconds of its timeout', async () => {
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

test('a poll after an answer that is too large requests half of the updates', async () => {
  const asked: string[] = []
  const tooLarge = new NoResponseError('postern_upstream_invalid', 'x')
  const { get } = scene({
    poll: async ({ query }) => {
      asked.push(query)
      if (asked.length < 3) throw tooLarge
      return answer(UPDATES)
    },
  })
  for (let n = 0; n < 5; n++) await get('?timeout=1')
  const limits = asked.map((query) => new URLSearchParams(query).get('limit'))
  expect(limits).toEqual([null, '50', '25', '50', null])
  await get('?limit=0')
  asked.length = 0
  for (let n = 0; n < 2; n++) await get('?limit=0')
  expect(asked[1]).toBe('limit=0')
})

test('a poll of too many bytes is repeated at once with half of the updates, down to one', async () => {
  const asked: string[] = []
  const tooLarge = new TooLargeAnswerError('postern_upstream_invalid', 'x')
  const { get } = scene({
    poll: async ({ query }) => {
      asked.push(query)
      if (asked.length < 3 || asked.length > 4) throw tooLarge
      return answer(UPDATES)
    },
  })
  expect(JSON.parse(await get('?offset=7&timeout=1'))).toMatchObject({ ok: true })
  expect(asked).toEqual(['', '&limit=50', '&limit=25'].map((more) => `offset=7&timeout=1${more}`))
  await get('?timeout=1')
  asked.splice(0, Infinity, ...Array<string>(4).fill(''))
  expect(await get('?timeout=1&limit=3')).toContain('postern_upstream_invalid')
  expect(asked.slice(4)).toEqual([3, 2, 1].map((limit) => `timeout=1&limit=${limit}`))
})

test('a poll counts by the limits that the service reports', async () => {
  const { get, log } = scene({ limits: { pollTimeoutMaxS: 20, pollLimitMax: 2 } })
  await get('?timeout=50')
  expect(log).toContainEqual(['poll', 'timeout=50', 20])
  expect(log).toContainEqual(['open', true])
})

test.each([
  [90, 'timeout=90', 90],
  [90, 'timeout=91', 90],
  [800, 'timeout=800', 300],
  [800, 'timeout=300', 300],
])(
  'a poll waits as long as the service accepts, %i s, by the query %s: %i s, within what the door has',
  async (pollTimeoutMaxS, query, seconds) => {
    const { get, log } = scene({ limits: { pollTimeoutMaxS, pollLimitMax: 100 } })
    await get(`?${query}`)
    // the service refuses what is beyond its own limit
    expect(log).toContainEqual(['poll', seconds === 300 ? 'timeout=300' : query, seconds])
  },
)

/** News that a test gives; `heard` are gone. */
function playedNews(ids: string[]) {
  let more = new AbortController()
  const news = {
    ids,
    add: (id: string) => (ids.push(id), more.abort()),
    after: (updateId: number) => ids.map((id) => ({ id, update: { updateId, id } })),
    get signal() {
      if (ids.length === 0 && more.signal.aborted) more = new AbortController()
      return ids.length === 0 ? more.signal : AbortSignal.abort()
    },
    heard: async (told: readonly string[]) => void ids.splice(0, told.length),
  }
  return news
}

test('a poll is answered with outbox news and updates together, and does not wait for either', async () => {
  const news = playedNews(['a', 'b'])
  const one = scene({ news })
  const got = JSON.parse(await one.get('?offset=1&timeout=50')).result
  expect(got).toEqual([{ updateId: 0, id: 'a' }, { updateId: 0, id: 'b' }, ...UPDATES])
  expect([one.log[1], news.ids]).toEqual([['poll', 'offset=1&timeout=0', 0], []])
})

test('a poll that outbox news have ended is followed by one that they do not end', async () => {
  const news = playedNews([])
  const polls: PollRequest[] = []
  const { get } = scene({
    news,
    poll: async (asked) => {
      polls.push(asked)
      news.add(`n${polls.length}`)
      if (asked.signal.aborted) throw new NoResponseError('postern_upstream_timeout', 'x')
      return answer(UPDATES)
    },
  })
  expect(JSON.parse(await get('?timeout=50')).result).toEqual([{ updateId: 0, id: 'n1' }])
  const next = JSON.parse(await get('?timeout=50')).result
  expect(next).toEqual([{ updateId: 0, id: 'n2' }, ...UPDATES])
  expect(polls.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([50, 1])
})

test('a bot that reads one at a time receives outbox news and updates in turns', async () => {
  const { get } = scene({ news: playedNews(['a', 'b', 'c']) })
  const got = []
  for (let n = 0; n < 3; n++) got.push(...JSON.parse(await get('?limit=1')).result)
  expect(got).toEqual([{ updateId: 0, id: 'a' }, UPDATES[0], UPDATES[0]])
})
