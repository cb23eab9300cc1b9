/** Several readers of one queue for the second time: pauses, lost turns, lost cursors, second pages. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import type { Client } from '../../src/kernel/index.ts'
import { ConsumerQueue, ConsumerWebhook } from '../../src/updates/consumer-queue.ts'
import { Consumers, type ConsumersParts } from '../../src/updates/consumers.ts'
import { BOT, Cursors } from '../../src/updates/cursors.ts'
import { DeliveryTurns } from '../../src/updates/delivery-turns.ts'
import type { Registration } from '../../src/updates/registration.ts'
import { SharedQueue, type SharedQueueParts } from '../../src/updates/shared-queue.ts'
import { open, temporary } from '../store/support.ts'
import { clientOf } from '../support/client.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { all, playedService, queueScene } from './shared-scene.ts'

const never = new AbortController().signal

/** A turn of this sidecar, which a test ends. */
function playedTurns() {
  const turn = { isHeld: true, lost: new AbortController(), asked: new AbortController(), given: 0 }
  const take = async () => ({
    get isHeld() {
      return turn.isHeld
    },
    signal: turn.lost.signal,
    asked: turn.asked.signal,
    [Symbol.asyncDispose]: async () => void (turn.given += 1),
  })
  return { turn, turns: { tryTake: take, take, untilFree: async () => {} } }
}

async function queueOf(more: Partial<SharedQueueParts> = {}) {
  const clock = playedClock()
  const { service, marked, poller } = playedService()
  const cursors = await Cursors.load(await open(temporary(), { protection: 'none' }))
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const queue = new SharedQueue({
    poller,
    cursors,
    clock,
    turns: null,
    botHas: () => null,
    consumerOf: (name) => all(name),
    stopping: stopping.signal,
    ...more,
  })
  return { clock, service, marked, poller, cursors, queue, stopping }
}

test('the pauses between readings without news double from one second to eight', async () => {
  const { queue, service, clock } = await queueOf()
  service.ids = [1]
  await queue.next(all('reporter'), never)
  await queue.record(BOT, { updateId: 1, mark: 'm' })
  const waits = vi.spyOn(clock, 'wait')
  const waiting = queue.next(all(BOT), never)
  await rest()
  await clock.pass(10_000)
  for (let n = 0; n < 6; n++) {
    await rest()
    await clock.pass(8000)
  }
  expect(waits.mock.calls.map(([ms]) => ms).slice(0, 5)).toEqual([1000, 2000, 4000, 8000, 8000])
  service.ids = [1, 2]
  await rest()
  await clock.pass(8000)
  expect((await waiting).map(({ delivered }) => delivered.updateId)).toEqual([2])
})

test('a turn that was lost in mid-read gives nothing, and confirms nothing', async () => {
  const { turn, turns } = playedTurns()
  const { queue, service, marked, cursors } = await queueOf({ turns })
  service.ids = [1, 2]
  turn.isHeld = false
  const ended = new AbortController()
  const reading = queue.next(all('reporter'), ended.signal)
  await vi.waitFor(() => expect(turn.given).toBeGreaterThan(0))
  ended.abort()
  expect([await reading, marked, cursors.get('reporter')?.delivered]).toEqual([[], [], null])
  turn.isHeld = true
  expect(await queue.next(all('reporter'), never)).toHaveLength(2)
})

describe('a reading', () => {
  test.each(['lost', 'asked'] as const)('a reading ends when its turn is %s', async (how) => {
    const { turn, turns } = playedTurns()
    const signals: AbortSignal[] = []
    const poller = {
      confirmsEach: false,
      next: async (stop: AbortSignal) => {
        signals.push(stop)
        await nextTurn()
        return []
      },
      markDelivered: () => {},
      confirm: async () => {},
    }
    const { queue } = await queueOf({ turns, poller })
    const ended = new AbortController()
    const reading = queue.next(all('reporter'), ended.signal)
    await vi.waitFor(() => expect(signals.length).toBeGreaterThan(0))
    turn[how].abort()
    expect(signals[0]?.aborted).toBe(true)
    ended.abort()
    expect(await reading).toEqual([])
  })

  test('a reading after a request for its turn leaves the other sidecar two seconds', async () => {
    const { turn, turns } = playedTurns()
    const { queue, service, clock } = await queueOf({ turns })
    turn.asked.abort()
    const ended = new AbortController()
    const reading = queue.next(all('reporter'), ended.signal)
    await rest()
    const { readings } = service
    await clock.pass(1999)
    expect(service.readings).toBe(readings)
    await clock.pass(1)
    expect(service.readings).toBeGreaterThan(readings)
    ended.abort()
    await reading
  })

  test('a reading of a queue with readers reads more than one update', async () => {
    const { queue, service, poller, clock } = await queueOf()
    service.ids = [1, 2, 3]
    await queue.next(all('reporter'), never)
    poller.confirmsEach = true
    await clock.pass(10_000)
    expect(await queue.next(all(BOT), never)).toHaveLength(3)
  })
})

test('the bot begins after the update that its webhook has', async () => {
  const { queue, service } = await queueOf({ botHas: () => ({ updateId: 2, mark: 'm' }) })
  service.ids = [1, 2, 3]
  expect(await queue.next(all('reporter'), never)).toHaveLength(3)
  const found = await queue.next(all(BOT), never)
  expect(found.map(({ delivered }) => delivered.updateId)).toEqual([3])
})

test('a poll of the bot confirms the updates below its offset, and not the one at it', async () => {
  const { queue, service, cursors } = await queueOf()
  service.ids = [1, 2, 3]
  await queue.next(all(BOT), never)
  expect(await queue.recordBelow(all(BOT), 1)).toBe(false)
  expect(await queue.recordBelow(all(BOT), 3)).toBe(true)
  expect(cursors.get(BOT)?.delivered?.updateId).toBe(2)
})

test('a dropped reader holds no update back, and begins anew with the next', async () => {
  const { queue, service, clock, cursors, marked } = await queueOf()
  service.ids = [1]
  await queue.next(all('reporter'), never)
  await queue.record(BOT, { updateId: 1, mark: 'm' })
  const waiting = queue.next(all(BOT), never)
  await rest()
  await clock.pass(6 * 3_600_000)
  await clock.pass(8000)
  expect([cursors.get('reporter'), marked.at(-1)]).toEqual([undefined, 1])
  service.ids = [2]
  await clock.pass(8000)
  expect(await waiting).toHaveLength(1)
  const found = await queue.next(all('reporter'), never)
  expect(found.map(({ delivered }) => delivered.updateId)).toEqual([2])
})

/** Consumers over a played service; each loop is a record of how it was stopped. */
async function consumersOf(more: Partial<ConsumersParts> = {}) {
  const { service, poller } = playedService()
  const clock = playedClock()
  const stops: object[] = []
  const client = clientOf({ name: 'reporter' })
  const cursors = await Cursors.load(await open(temporary(), { protection: 'none' }))
  const ended = Promise.withResolvers<void>()
  let loops = 0
  const parts = {
    poller,
    cursors,
    clock,
    turns: null,
    botHas: () => null,
    given: [
      { url: 'https://a.example', secret: null, kinds: null, reader: clientOf({ name: 'a' }) },
    ],
    clients: { named: () => client, reader: () => () => true },
    hasBot: () => true,
    makeLoop: () => {
      loops++
      return {
        stop: async (how: object) => {
          stops.push(how)
          await ended.promise
        },
      }
    },
    ...more,
  }
  const consumers = new Consumers(parts as unknown as ConsumersParts)
  const poll = async (
    o: { by?: Client | null; offset?: number; limit?: number; stop?: AbortSignal } = {},
  ): Promise<unknown[]> => {
    const { by = client, offset = 0, limit = 100, stop = never } = o
    return await consumers.poll(by, { offset, limit, timeoutMs: 60_000 }, stop)
  }
  return { consumers, service, poll, stops, ended, client, cursors, loops: () => loops }
}
const idsOf = (updates: unknown[]) => updates.map((one) => (one as { updateId: number }).updateId)

test('the pages of a client are numbered on, also after its cursor is lost', async () => {
  const { service, poll, cursors, ended } = await consumersOf()
  ended.resolve()
  service.ids = [901, 902, 903, 904, 905]
  expect(idsOf(await poll({ limit: 2 }))).toEqual([1, 2])
  expect(idsOf(await poll({ offset: 3, limit: 2 }))).toEqual([3, 4])
  expect(idsOf(await poll({ offset: 4, limit: 2 }))).toEqual([4, 5])
  await cursors.remove('reporter')
  expect(idsOf(await poll({ offset: 6, limit: 2 }))).toEqual([6, 7])
})

test('a second poll of one caller ends the first, and none of another caller', async () => {
  const { service, poll } = await consumersOf()
  const [first, ofBot] = [poll(), poll({ by: null })]
  await nextTurn()
  const second = poll()
  expect(await first).toEqual([])
  service.ids = [7]
  expect([idsOf(await second), idsOf(await ofBot)]).toEqual([[1], [7]])
})

test('webhooks of the settings are delivered to once, and again after a hold', async () => {
  const { consumers, stops, ended, loops } = await consumersOf()
  consumers.start()
  consumers.start()
  expect(loops()).toBe(1)
  consumers.hold()
  expect(stops).toEqual([{ graceMs: 5000, confirms: false }])
  consumers.start()
  expect(loops()).toBe(2)
  let isEnded = false
  const ending = consumers[Symbol.asyncDispose]().then(() => (isEnded = true))
  await rest()
  expect([stops.at(-1), isEnded]).toEqual([{ graceMs: 5000 }, false])
  ended.resolve()
  await ending
})

test('a delivery to the bot beside other readers is recorded as its webhook’s and as its own', async () => {
  const { consumers, cursors, ended } = await consumersOf()
  ended.resolve()
  const recordForBot = vi.fn(async () => {})
  const recordFailure = vi.fn(async () => {})
  const registration = { webhook: null, recordForBot, recordFailure } as unknown as Registration
  const recorder = consumers.ofBot(registration)
  const delivered = { updateId: 4, mark: 'm' }
  const may = (): boolean => true
  await recorder.recordDelivered(delivered, may)
  expect(recordForBot.mock.calls).toEqual([[delivered, may]])
  expect(cursors.get(BOT)?.delivered).toEqual(delivered)
  await recorder.recordFailure('x', 9)
  expect(recordFailure.mock.calls).toEqual([['x', 9]])
  recordForBot.mockRejectedValue(new Refusal('postern_store_unwritable'))
  await expect(recorder.recordDelivered({ updateId: 5, mark: 'm' }, may)).rejects.toThrow()
  expect(cursors.get(BOT)?.delivered).toEqual(delivered)
})

test('the failures of a consumer’s webhook count in a row, and begin anew after a delivery', async () => {
  const record = vi.fn(async () => {})
  const hook = new ConsumerWebhook({ record } as never, { name: 'a', url: 'u', secret: 's' })
  for (const at of [1, 2]) await hook.recordFailure(`failure ${at}`, at)
  expect(hook.webhook).toMatchObject({ failures: 2, lastError: 'failure 2', nextAttemptAt: 2 })
  await hook.recordDelivered({ updateId: 4, mark: 'm' })
  expect(hook.webhook).toMatchObject({ failures: 0, lastError: null, nextAttemptAt: null })
  expect(record.mock.calls).toEqual([['a', { updateId: 4, mark: 'm' }]])
})

test('a consumer whose queue cannot be read is served again a second later', async () => {
  const clock = playedClock()
  const next = vi.fn().mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  const parts = { queue: { next } as never, poller: {} as never, consumer: all('a'), clock }
  const reading = new ConsumerQueue(parts).next(never)
  let found: unknown = null
  void reading.then((updates) => (found = updates))
  await rest()
  await clock.pass(999)
  expect(found).toBeNull()
  await clock.pass(1)
  expect(found).toEqual([])
})

/** How the loop of a turn ends, by what ends the turn. */
const ENDS = {
  lost: { graceMs: 0, confirms: false },
  asked: { graceMs: 0, confirms: true },
  stopped: { graceMs: 77, confirms: true },
}

test.each(Object.entries(ENDS))('a turn that is %s ends its deliveries by %j', async (end, how) => {
  const { turn, turns } = playedTurns()
  const order: unknown[] = []
  const deliveries = new DeliveryTurns({
    turns: turns as never,
    clock: playedClock(),
    fresh: async () => {
      await nextTurn()
      order.push('fresh')
    },
    makeLoop: () => {
      order.push('loop')
      return { stop: async (given: object) => void order.push(given) } as never
    },
  })
  await vi.waitFor(() => expect(order).toEqual(['fresh', 'loop']))
  if (end === 'lost') {
    turn.isHeld = false
    turn.lost.abort()
  }
  if (end === 'asked') turn.asked.abort()
  if (end === 'stopped') await deliveries.stop({ graceMs: 77 })
  await vi.waitFor(() => expect(order).toEqual(['fresh', 'loop', how]))
  expect(turn.given).toBe(1)
  await deliveries.stop({ graceMs: 0 })
})

test('the warning of one reader ends with its updates', async () => {
  const { service, read, behind, clock } = await queueScene([all(BOT), all('reporter')])
  service.ids = Array.from({ length: 45 }, (_, at) => at + 1)
  await read(all('reporter'))
  await clock.pass(10_000)
  await read(all(BOT))
  expect(behind).toEqual([['reporter']])
  await read(all('reporter'), 'has')
  await clock.pass(10_000)
  await read(all(BOT))
  expect(behind).toEqual([['reporter'], []])
})
