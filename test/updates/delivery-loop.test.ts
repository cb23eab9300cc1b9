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
import { StoreReach } from '../../src/updates/store-reach.ts'
import { UpdatePoller } from '../../src/updates/update-poller.ts'
import { door } from '../upstream/support.ts'
import { openBot, type WebhookBot } from './bot.ts'
import { deliveringClient } from './deliverer.ts'
import { message, openService, type ScriptedService } from './service.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { until } from './support.ts'

const nothing = (): void => {}

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
  const limits = () => ({ pollTimeoutMaxS: 50, apiCallsPerMinute: 600 })
  const poller = new UpdatePoller(
    {
      sightings: sightingsOf({}),
      upstream,
      clock,
      polls,
      backlog,
      limits,
      storeReach: new StoreReach({
        fresh: () => Promise.resolve(),
      }),
      recordConfirmed: () => Promise.resolve(),
      incoming,
      onPolled: nothing,
      onReadFailed: nothing,
      onUnexpectedError: nothing,
    },
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
    registration: { webhook, recordDelivered, recordFailure: () => Promise.resolve() },
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
  const loop = open(service, bot, ({ updateId }) => {
    recorded.push(updateId)
    return Promise.resolve()
  })
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
  const loop = open(service, bot, ({ updateId }) => {
    recorded.push(updateId)
    return Promise.resolve()
  })
  await bot.until(1)
  await loop.stop({ graceMs: 20 })
  await cut.promise
  expect([recorded, service.confirmations]).toEqual([[], []])
})

test('a `DeliveryLoop` that may not deliver outbox news waits in place of a busy loop', async () => {
  let calls = 0
  const more = new AbortController()
  more.abort()
  const webhook = { url: '', secret: null, failures: 0, lastError: null, nextAttemptAt: null }
  const loop = new DeliveryLoop({
    poller: {
      next: async (stop: AbortSignal) => {
        calls += 1
        if (calls > 1000) return await new Promise<never>(() => {})
        if (stop.aborted) return []
        return await new Promise<never[]>((resolve) =>
          stop.addEventListener('abort', () => resolve([])),
        )
      },
    } as never,
    client: {} as never,
    clock: playedClock(),
    mayDeliver: () => false,
    registration: { webhook } as never,
    last: () => null,
    news: { after: () => [{ id: 'a', update: {} }], signal: more.signal, heard: async () => {} },
    onDelivered: () => {},
    onFailed: () => {},
    onUnexpectedError: () => {},
  })
  await rest()
  expect(calls).toBeLessThan(10)
  await loop.stop({ graceMs: 0, confirms: false })
})
