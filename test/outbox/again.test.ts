/** The loop of the outbox at the edges of its times, and whatever happens in it for the second time. */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  EngineUnavailableError,
  KeyHolderUnavailableError,
  NoResponseError,
  Refusal,
  ServiceError,
} from '../../src/errors.ts'
import { OutboxEntries, type NewEntry, type OutboxEntry } from '../../src/outbox/entries.ts'
import { attemptOf, Outbox, passes, type OutboxAttempt } from '../../src/outbox/outbox.ts'
import { OutboxNews } from '../../src/outbox/news.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, NO_APPROVALS } from '../support/approvals.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { entryOf } from './support.ts'

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const SENT: OutboxAttempt = { code: null, sentId: 7, retryMs: null, mayPass: false, isOfAll: false }
const AWAY = new NoResponseError('postern_upstream_unreachable')
const SLOW = { ...SENT, code: 'slow_mode', mayPass: true }

/** A loop, and the tries that it makes; the service answers as `answers` has it, then accepts. */
async function scene() {
  const store = await open(temporary(), { protection: 'none' })
  const entries = await OutboxEntries.load(store, NO_APPROVALS)
  const clock = playedClock()
  const tries: string[] = []
  const answers: (OutboxAttempt | Error)[] = []
  const stuck: (string | null)[] = []
  const outbox = new Outbox({
    entries,
    store,
    clock,
    send: async (_entry, words) => {
      tries.push(words.toString())
      await turn()
      const answer = answers.shift() ?? SENT
      if (answer instanceof Error) throw answer
      return answer
    },
    maxAgeMs: 2 * HOUR,
  })
  outbox.onStuck((entry) => stuck.push(entry?.id ?? null))
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  const give = (words: string, more: Partial<NewEntry> = {}) => {
    const nowMs = clock.now()
    return entries.add(entryOf({ createdAtMs: nowMs, dueAtMs: nowMs, ...more }), Buffer.from(words))
  }
  const begin = async () => {
    outbox.start()
    await rest()
  }
  return { store, entries, outbox, clock, tries, answers, stuck, give, begin }
}
type Scene = Awaited<ReturnType<typeof scene>>

/** A time of the loop: nothing has happened a millisecond before, and it has at the millisecond. */
interface Edge {
  atMs: number
  prepare: (scene: Scene) => Promise<unknown>
  happened: (scene: Scene) => unknown
}
const isTriedAgain = ({ tries }: Scene) => tries.length === 2
const failing = (...answers: (OutboxAttempt | Error)[]): Edge['prepare'] => {
  return async ({ answers: given, give, begin }) => {
    given.push(...answers)
    await give('words')
    await begin()
  }
}
const EDGES: Record<string, Edge> = {
  'the first try after no answer': {
    atMs: SECOND,
    prepare: failing(AWAY),
    happened: isTriedAgain,
  },
  'the first try after a defect': {
    atMs: SECOND,
    prepare: failing(new Error('defect')),
    happened: isTriedAgain,
  },
  'a try after a wait of the service': {
    atMs: 7 * SECOND,
    prepare: failing({ ...SLOW, retryMs: 7 * SECOND }),
    happened: isTriedAgain,
  },
  'a try after a wait in a thrown refusal': {
    atMs: 9 * SECOND,
    prepare: failing(new Refusal('postern_busy', '', { extra: { retryAfter: 9 } })),
    happened: isTriedAgain,
  },
  'a try after a wait in an answer to a look-up': {
    atMs: 11 * SECOND,
    prepare: failing(serviceError(429, 'rate_limited', 11)),
    happened: isTriedAgain,
  },
  'a send at its time': {
    atMs: 5 * SECOND,
    prepare: async ({ give, begin }) => {
      await give('words', { dueAtMs: 5 * SECOND })
      await begin()
    },
    happened: ({ tries }) => tries.length === 1,
  },
  'the report of an entry that waits': {
    atMs: 10 * MINUTE + 1,
    prepare: failing({ ...SLOW, retryMs: 20 * MINUTE }),
    happened: async ({ give, stuck }) => {
      // it wakes the loop
      await give('later', { chatId: 9, dueAtMs: 72 * HOUR })
      await rest()
      return stuck.length > 0
    },
  },
  'the removal of a settled entry': {
    atMs: 72 * HOUR + 1,
    prepare: async ({ give, begin }) => {
      await give('words')
      await begin()
    },
    happened: async ({ store, clock }) => {
      const again = await OutboxEntries.load(store, NO_APPROVALS)
      const { id } = again.all[0] ?? { id: '' }
      const asked = { createdAtMs: clock.now(), dueAtMs: 1e15, isForSealed: true }
      await again.add(entryOf(asked), Buffer.from('more'))
      return again.get(id) === undefined
    },
  },
}

test.each(Object.entries(EDGES))('%s happens at its time and not before', async (_name, edge) => {
  const one = await scene()
  await edge.prepare(one)
  await one.clock.pass(edge.atMs - 1)
  expect(await edge.happened(one)).toBe(false)
  await one.clock.pass(1)
  expect(await edge.happened(one)).toBe(true)
})

test('an entry is too old a millisecond after its longest age', async () => {
  const { give, begin, clock, entries } = await scene()
  const [old, young] = [await give('old'), await give('young', { chatId: 2, dueAtMs: 1 })]
  await clock.pass(2 * HOUR + 1)
  await begin()
  expect(entries.get(old.id)).toMatchObject({ state: 'refused', code: 'postern_outbox_expired' })
  expect(entries.get(young.id)?.state).toBe('sent')
})

test('the waits of one chat double up to a minute, and begin anew after a send', async () => {
  const { answers, give, begin, clock, tries } = await scene()
  answers.push(...Array.from({ length: 8 }, () => AWAY))
  await give('words')
  await begin()
  for (const [at, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    await clock.pass(seconds * SECOND - 1)
    expect(tries).toHaveLength(at + 1)
    await clock.pass(1)
    expect(tries).toHaveLength(at + 2)
  }
  answers.push(AWAY)
  await give('other')
  await rest()
  await clock.pass(SECOND)
  expect(tries.slice(-2)).toEqual(['other', 'other'])
})

test('the end of an outage ends the wait of every chat', async () => {
  const { answers, give, begin, clock, tries } = await scene()
  answers.push(AWAY)
  await give('one')
  await begin()
  for (const chatId of [2, 3]) await give(`to ${chatId}`, { chatId })
  await clock.pass(SECOND)
  expect(tries).toEqual(['one', 'one', 'to 2', 'to 3'])
})

test('four chats have a send at once, and no chat has two', async () => {
  const { outbox, give, clock, entries } = await scene()
  const held = Promise.withResolvers<OutboxAttempt>()
  const begun: number[] = []
  const many = new Outbox({
    entries,
    store: { tryLock: async () => TURN, untilFree: async () => {} },
    clock,
    send: ({ chatId }) => {
      begun.push(chatId)
      return held.promise
    },
    maxAgeMs: HOUR,
  })
  for (const chatId of [1, 1, 2, 3, 4, 5]) await give('words', { chatId })
  many.start()
  await rest()
  expect(begun).toEqual([1, 2, 3, 4])
  held.resolve(SENT)
  await rest()
  expect(begun.toSorted()).toEqual([1, 1, 2, 3, 4, 5])
  await many[Symbol.asyncDispose]()
  expect(outbox.entries.all.every(({ state }) => state === 'sent')).toBe(true)
})

const { signal } = new AbortController()
const TURN = { isHeld: true, signal, asked: signal, [Symbol.asyncDispose]: async () => {} }

/** What ends the loop's turn in mid-round: nothing more is begun. */
const ENDS: Record<string, (turn: { isHeld: boolean; asked: AbortController }, o: Outbox) => void> =
  {
    'lost its turn': (held) => void (held.isHeld = false),
    'was requested for its turn': ({ asked }) => asked.abort(),
    'has stopped': (_held, outbox) => void outbox[Symbol.asyncDispose](),
  }

test.each(Object.entries(ENDS))('a loop that %s begins no other send', async (_how, end) => {
  const { give, clock, entries } = await scene()
  const held = { isHeld: true, asked: new AbortController() }
  const given = vi.fn(async () => {})
  let turns = 0
  const lock = () => ({
    get isHeld() {
      return held.isHeld
    },
    signal,
    asked: held.asked.signal,
    [Symbol.asyncDispose]: given,
  })
  const tries: string[] = []
  const outbox: Outbox = new Outbox({
    entries,
    store: {
      tryLock: async () => (turns++ === 0 ? lock() : null),
      untilFree: (_name, stop) =>
        new Promise((resolve) => stop.addEventListener('abort', () => resolve())),
    },
    clock,
    send: async (_entry, words) => {
      tries.push(words.toString())
      end(held, outbox)
      return SENT
    },
    maxAgeMs: HOUR,
  })
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  for (const words of ['one', 'two']) await give(words)
  outbox.start()
  await rest()
  expect([tries, given.mock.calls.length]).toEqual([['one'], 1])
})

describe('requests', () => {
  const RULE = { chats: ['all' as const], kinds: ['send' as const], by: [815], withinMs: HOUR }
  const OFFICE = { id: 3, kind: 'private', personId: 815, latchedAtMs: null, refusedAtMs: null }
  const asking = async () => {
    const one = await scene()
    const approvals = approvalsOf({
      rules: [RULE],
      knownChats: { all: [OFFICE], get: () => OFFICE },
    })
    const entries = await OutboxEntries.load(one.store, { ...NO_APPROVALS, approvals })
    const attempts: (OutboxAttempt | null)[] = []
    const outbox = new Outbox({
      entries,
      store: one.store,
      clock: one.clock,
      send: async ({ id, approval }: OutboxEntry) => {
        const attempt = attempts.shift()
        if (attempt != null) return attempt
        if (approval === null) return SENT
        const { requests, ...others } = approval
        const sent = requests.map((request) => ({ ...request, messageId: 9 }))
        await entries.change(id, () => ({ approval: { ...others, requests: sent } }))
        return { ...SENT, sentId: null }
      },
      maxAgeMs: HOUR,
    })
    onTestFinished(() => outbox[Symbol.asyncDispose]())
    return { ...one, entries, outbox, attempts }
  }

  test('a request for a word settles nothing, and waits in the chat of its approver alone', async () => {
    const { entries, outbox, attempts, clock } = await asking()
    attempts.push({ ...SLOW, retryMs: 5 * SECOND })
    const asked = await entries.add(entryOf(), Buffer.from('{}'))
    outbox.start()
    await rest()
    const other = await entries.add(entryOf({ messageId: '7', chatId: 1 }), Buffer.from('{}'))
    await rest()
    expect(entries.get(other.id)?.state).toBe('sent')
    await clock.pass(5 * SECOND)
    const { state, settledAtMs, approval } = entries.get(asked.id) ?? {}
    expect([state, settledAtMs]).toEqual(['asked', null])
    expect(approval?.requests[0]?.messageId).toBe(9)
  })

  test('a request for a word is over at its last millisecond', async () => {
    const { entries, outbox, clock } = await asking()
    const { id } = await entries.add(entryOf(), Buffer.from('{}'))
    outbox.start()
    await rest()
    await clock.pass(HOUR - 1)
    expect(entries.get(id)?.state).toBe('asked')
    await clock.pass(1)
    expect(entries.get(id)).toMatchObject({ state: 'refused', code: 'postern_approval_late' })
  })
})

test('the second end of an entry is news again, after the first was delivered', async () => {
  const { entries, give } = await scene()
  const news = new OutboxNews(entries, { isOn: true })
  const { id } = await give('words')
  for (const [round, code] of ['first', 'second'].entries()) {
    const { signal: more } = news
    expect(more.aborted).toBe(false)
    await entries.settle(id, { state: 'refused', code }, round)
    expect(more.aborted).toBe(true)
    const [end] = news.after(7)
    expect(end?.update).toMatchObject({ updateId: 7, postern_outbox: { id, code } })
    await news.heard([end?.id ?? ''])
    expect(news.after(7)).toEqual([])
    await entries.wait(id, { isForSealed: true, nowMs: 0 })
  }
})

test('an end whose record fails is no news before a restart, and is after it', async () => {
  const { entries, give, store } = await scene()
  const news = new OutboxNews(entries, { isOn: true })
  const { id } = await give('words')
  await entries.settle(id, { state: 'refused', code: 'x' }, 1)
  const failing = vi
    .spyOn(store, 'write')
    .mockRejectedValue(new Refusal('postern_store_unwritable'))
  await news.heard(news.after(0).map((one) => one.id))
  failing.mockRestore()
  expect(news.after(0)).toEqual([])
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  expect(new OutboxNews(again, { isOn: true }).after(0)).toHaveLength(1)
  expect(new OutboxNews(again, { isOn: false }).after(0)).toEqual([])
})

/** Each kind of failure: whether it passes, for whom it waits, and the wait in ms that it asks for. */
const FAILURES: [what: string, error: Error, how: Partial<OutboxAttempt>][] = [
  ['a defect', new Error('x'), { code: 'internal', mayPass: true, isOfAll: false, retryMs: null }],
  ['no answer', AWAY, { mayPass: true, isOfAll: true, retryMs: null }],
  ['no thread', new EngineUnavailableError('memory'), { mayPass: true, isOfAll: true }],
  ['no holder', new KeyHolderUnavailableError('away'), { mayPass: true, isOfAll: true }],
  ['a full disk', new Refusal('postern_store_unwritable'), { mayPass: true, isOfAll: true }],
  ['no recipient', new Refusal('postern_no_recipient'), { mayPass: false, isOfAll: false }],
  ['a removed client', new Refusal('postern_not_allowed'), { mayPass: false, isOfAll: false }],
  [
    'a wait',
    new Refusal('rate_limited', '', { extra: { retryAfter: 3 } }),
    { mayPass: true, isOfAll: true, retryMs: 3000 },
  ],
  ['a refused look-up', serviceError(404, 'chat_not_found'), { mayPass: false, retryMs: null }],
  ['a look-up that waits', serviceError(429, 'slow_mode', 4), { mayPass: true, retryMs: 4000 }],
  ['a failed look-up', serviceError(502, 'internal'), { mayPass: true, isOfAll: true }],
]

test.each(FAILURES)('an attempt that fails by %s has its consequence', (_what, error, how) => {
  expect(attemptOf(error)).toMatchObject({ sentId: null, ...how })
})

test.each<[number, string, boolean, boolean]>([
  [400, 'bad_request', false, false],
  [401, 'unauthorized', true, true],
  [403, 'bot_paused', true, true],
  [403, 'write_forbidden', false, false],
  [429, 'rate_limited', true, true],
  [429, 'slow_mode', true, false],
  [499, 'other', false, false],
  [500, 'internal', true, true],
  [503, 'other', true, true],
])('an answer %i %s passes: %s, for all: %s', (status, code, mayPass, isOfAll) => {
  expect(passes(status, code)).toEqual({ mayPass, isOfAll })
})

function serviceError(status: number, code: string, seconds?: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.from('{}') }
  return new ServiceError({ code, status, expected: undefined, retryAfterSeconds: seconds, answer })
}
