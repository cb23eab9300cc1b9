import type { UpdateHead } from '../../src/kernel/sightings.ts'
import { sightingsOf } from '../support/unseen.ts'
import { expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import type { Incoming } from '../../src/translate/incoming.ts'
import { Backlog } from '../../src/updates/backlog.ts'
import { REAL_CLOCK, type Clock } from '../../src/util/clock.ts'
import type { Delivered } from '../../src/updates/update-batch.ts'
import { PollWatch } from '../../src/updates/poll-watch.ts'
import { DeliveryLoop, NO_NEWS } from '../../src/updates/delivery-loop.ts'
import { QueueReader } from '../../src/updates/queue-reader.ts'
import { UpdatePoller } from '../../src/updates/update-poller.ts'
import { door } from '../service/support.ts'
import { openBot, type WebhookBot } from './bot.ts'
import { deliveringClient } from './deliverer.ts'
import { message, openService, type ScriptedService } from './service.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { until } from './support.ts'

const nothing = (): void => {}
const never = new AbortController().signal

/** A delivery loop over a real service and bot, whose records a test may let fail. */
function open(
  service: ScriptedService,
  bot: WebhookBot,
  recordDelivered: (d: Delivered) => Promise<void>,
  { clock = REAL_CLOCK, incoming = null }: { clock?: Clock; incoming?: Incoming | null } = {},
) {
  const { upstream } = door(service.url)
  const polls = new PollWatch(clock)
  const backlog = new Backlog({
    clock,
    skewMs: () => 0,
    isDelivering: () => true,
    ask: () => Promise.resolve(),
    peek: () => Promise.resolve(null),
  })
  const limits = () => ({ pollTimeoutMaxS: 50, pollLimitMax: 100, apiCallsPerMinute: 600 })
  const reader = new QueueReader({
    sightings: sightingsOf({}),
    upstream,
    polls,
    backlog,
    limits,
    turns: null,
    store: { fresh: () => Promise.resolve() },
    recordConfirmed: () => Promise.resolve(),
    expectConfirmed: () => {},
    incoming,
    onPolled: nothing,
  })
  const poller = new UpdatePoller(
    { reader, clock, limits, onReadFailed: nothing, onUnexpectedError: nothing },
    null,
  )
  const { client } = deliveringClient({ clock })
  const { url } = bot
  const webhook = { url, secret: null, failures: 0, lastError: null, nextAttemptAt: null }
  const loop = new DeliveryLoop({
    poller,
    client,
    clock,
    mayDeliver: () => true,
    registration: { webhook, recordDelivered, recordAttempt: () => Promise.resolve() },
    last: () => null,
    news: NO_NEWS,
    onDelivered: nothing,
    onFailed: nothing,
    onUnexpectedError: nothing,
  })
  onTestFinished(() => loop.stop({ graceMs: 0, confirms: false }))
  return loop
}

test('a delivery that the store cannot record is confirmed at the service before the next delivery', async () => {
  const service = await openService()
  const all = [11, 12, 13, 14].map((id) => message(id))
  service.answers.push(all, all.slice(1, 2), all.slice(2, 3), all.slice(3))
  const bot = await openBot()
  let isFull = true
  open(service, bot, ({ updateId }) => {
    if (updateId === 13) isFull = false
    return isFull ? Promise.reject(new Refusal('postern_store_unwritable')) : Promise.resolve()
  })
  await until(() => service.polls.length >= 5)
  expect(service.polls.map(({ offset, limit }) => [offset, limit])).toEqual([
    [null, 100],
    [12, 1],
    [13, 1],
    [14, 100],
    [15, 100],
  ])
  expect(bot.deliveries.length).toBe(4)
})

test('an update that the sidecar fails to open is neither delivered nor confirmed, and is read again each second', async () => {
  const service = await openService()
  const all = [11, 12].map((id) => message(id))
  service.answers.push(...Array.from({ length: 6 }, () => all))
  const bot = await openBot()
  const waits: number[] = []
  const wait: Clock['wait'] = (ms, signal) => {
    waits.push(ms)
    return REAL_CLOCK.wait(ms === 1000 ? 5 : ms, signal)
  }
  let failures = 0
  const incoming = {
    open: (heads: readonly UpdateHead[]) =>
      ++failures <= 5
        ? Promise.reject(new Refusal('postern_store_unwritable'))
        : Promise.resolve({ updates: heads, changed: false }),
  } as unknown as Incoming
  const clock = { ...REAL_CLOCK, wait }
  open(service, bot, () => Promise.resolve(), { clock, incoming })
  await bot.until(2)
  await until(() => service.polls.length >= 7)
  expect(service.polls.slice(0, 7).map(({ offset }) => offset)).toEqual([
    ...Array.from({ length: 6 }, () => null),
    13,
  ])
  expect(bot.deliveries.length).toBe(2)
  expect(waits.filter((ms) => ms >= 1000).slice(0, 5)).toEqual([1000, 1000, 1000, 1000, 1000])
})

test('an update opened more than ten seconds ago is read and judged again before delivery', async () => {
  const service = await openService()
  const all = [11, 12, 13].map((id) => message(id))
  service.answers.push(all, all.slice(1))
  const bot = await openBot()
  let passedMs = 0
  const clock = { ...REAL_CLOCK, monotonicNow: () => performance.now() + passedMs }
  const slowly = ({ updateId }: Delivered): Promise<void> => {
    if (updateId === 11) passedMs = 10_001
    return Promise.resolve()
  }
  open(service, bot, slowly, { clock })
  await until(() => service.polls.length >= 3)
  expect(service.polls.map(({ offset }) => offset)).toEqual([null, 12, 14])
  expect(bot.deliveries.length).toBe(3)
})

test('a stopping `DeliveryLoop` finishes the current delivery, confirms it and starts no other', async () => {
  const service = await openService()
  service.answers.push([message(11), message(12)])
  const answer = Promise.withResolvers<void>()
  const bot = await openBot((_delivery, response) => void answer.promise.then(() => response.end()))
  const recorded: number[] = []
  const loop = open(service, bot, async ({ updateId }) => void recorded.push(updateId))
  await bot.until(1)
  const stopped = loop.stop({ graceMs: 60_000 })
  answer.resolve()
  await stopped
  expect(recorded).toEqual([11])
  expect(bot.deliveries.length).toBe(1)
  expect(service.confirmations).toEqual([12])
})

test('a stopping `DeliveryLoop` aborts a delivery after its grace period, and the update stays queued', async () => {
  const service = await openService()
  service.answers.push([message(11)])
  const cut = Promise.withResolvers<void>()
  const bot = await openBot((_delivery, response) => void response.on('close', cut.resolve))
  const recorded: number[] = []
  const loop = open(service, bot, async ({ updateId }) => void recorded.push(updateId))
  await bot.until(1)
  await loop.stop({ graceMs: 20 })
  await cut.promise
  expect([recorded, service.confirmations]).toEqual([[], []])
})

const untilStopped = (stop: AbortSignal) =>
  new Promise<never[]>((resolve) => stop.addEventListener('abort', () => resolve([])))

/** A loop over a queue and news that a test plays. `statuses`: how deliveries end; all others work. */
async function playedLoop(o: {
  next?: (stop: AbortSignal) => Promise<unknown[]>
  news: string[]
  mayDeliver?: boolean
  statuses?: number[]
}) {
  const clock = playedClock()
  const left: string[] = []
  const failures: number[] = []
  const registration = {
    webhook: { url: '', secret: null, failures: 0, lastError: null, nextAttemptAt: null },
    recordDelivered: async () => {},
    recordAttempt: async (failure: unknown) =>
      void (registration.webhook.failures = failure ? registration.webhook.failures + 1 : 0),
  }
  const loop = new DeliveryLoop({
    poller: { next: o.next ?? untilStopped, markDelivered: nothing } as never,
    client: {
      deliver: async ({ body }) => {
        left.push(body)
        const status = o.statuses?.shift() ?? 200
        return status === 200 ? { kind: 'delivered', status } : { kind: 'refused', message: 'no' }
      },
    },
    clock,
    mayDeliver: () => o.mayDeliver !== false,
    registration,
    last: () => null,
    news: {
      after: () => o.news.map((id) => ({ id, update: id })),
      get signal() {
        return o.news.length > 0 ? AbortSignal.abort() : never
      },
      heard: async (ids) => void o.news.splice(0, ids.length),
    },
    onDelivered: nothing,
    onFailed: (failed) => void failures.push(failed.failures),
    onUnexpectedError: nothing,
  })
  onTestFinished(() => loop.stop({ graceMs: 0, confirms: false }))
  await rest()
  return { clock, left, failures }
}

test('an `UpdatePoller` polls twenty times at once and then twice a second', async () => {
  const clock = playedClock()
  let polls = 0
  const reader = {
    most: { timeoutSeconds: 50, limit: 100 },
    begin: async () => never,
    read: async () => {
      polls += 1
      return { how: 'read', updates: [], heads: [], given: [] }
    },
  }
  const parts = { reader, clock, limits: () => ({ apiCallsPerMinute: 600 }) }
  const poller = new UpdatePoller(parts as never, null)
  void (async () => {
    while (polls < 25) await poller.next(never)
  })()
  await rest()
  expect(polls).toBe(20)
  await clock.pass(499)
  expect(polls).toBe(20)
  await clock.pass(1)
  expect(polls).toBe(21)
  await clock.pass(1000)
  expect(polls).toBeGreaterThanOrEqual(22)
})

const opened = (...ids: number[]) =>
  ids.map((updateId) => ({ update: updateId, delivered: { updateId, mark: '' } }))

test('an update waits for one of the outbox news, and news end no reading of the queue', async () => {
  const readings = [opened(1, 2), opened(3)]
  let ended = 0
  const { left } = await playedLoop({
    next: async (stop) => {
      stop.addEventListener('abort', () => (ended += 1))
      return readings.shift() ?? (await untilStopped(stop))
    },
    news: ['a', 'b', 'c', 'd', 'e', 'f'],
  })
  expect([left.join(' '), ended]).toEqual(['"a" 1 "b" 2 "c" "d" 3 "e" "f"', 0])
})

test('a delivery of outbox news ends the failures in a row, as that of an update does', async () => {
  const { clock, failures } = await playedLoop({
    news: ['a', 'b', 'c', 'd'],
    statuses: [500, 200, 500, 200, 500, 500],
  })
  for (let n = 0; n < 4; n++) await clock.pass(1000)
  expect(failures).toEqual([1, 1, 1, 2])
})

test('a `DeliveryLoop` that may not deliver outbox news waits in place of a busy loop', async () => {
  let calls = 0
  await playedLoop({
    next: async (stop) => {
      calls += 1
      return calls > 1000 ? await new Promise<never>(() => {}) : await untilStopped(stop)
    },
    news: ['a'],
    mayDeliver: false,
  })
  expect(calls).toBe(1)
})
