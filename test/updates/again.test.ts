/** Several readers of one queue for the second time: pauses, lost turns, lost cursors, second pages. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { Refusal } from '../../src/errors.ts'
import { Consumers, keptWebhook, type ConsumersParts } from '../../src/updates/consumers.ts'
import { BOT, Cursors } from '../../src/updates/cursors.ts'
import { DeliveryTurns } from '../../src/updates/delivery-turns.ts'
import { SharedQueue, type SharedQueueParts } from '../../src/updates/shared-queue.ts'
import type { PendingUpdate } from '../../src/updates/update-poller.ts'
import { open, temporary } from '../store/support.ts'
import { clientOf } from '../support/client.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { all, playedService } from './shared-scene.ts'

const never = new AbortController().signal
const reporter = all('reporter')
const deliveredAt = (updateId: number) => ({ updateId, mark: 'm' })
const given = (updates: PendingUpdate[]) => updates.map(({ delivered }) => delivered.updateId)

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
  const others = { turns: null, botHas: () => null, consumerOf: all, stopping: stopping.signal }
  const queue = new SharedQueue({ poller, cursors, clock, ...others, ...more })
  return { clock, service, marked, poller, cursors, queue }
}

test('the pauses between readings without news double from one second to eight', async () => {
  const { queue, service, clock } = await queueOf()
  service.ids = [1]
  await queue.next(reporter, never)
  await queue.record(BOT, deliveredAt(1))
  const waits = vi.spyOn(clock, 'wait')
  const waiting = queue.next(all(BOT), never)
  for (let n = 0; n < 7; n++) {
    await rest()
    await clock.pass(10_000)
  }
  expect(waits.mock.calls.map(([ms]) => ms).slice(0, 5)).toEqual([1000, 2000, 4000, 8000, 8000])
  service.ids = [1, 2]
  await rest()
  await clock.pass(8000)
  expect(given(await waiting)).toEqual([2])
})

test('a turn that was lost in mid-read gives nothing, and confirms nothing', async () => {
  const { turn, turns } = playedTurns()
  const { queue, service, marked, cursors } = await queueOf({ turns })
  const fresh = vi.spyOn(cursors, 'fresh')
  service.ids = [1, 2]
  turn.isHeld = false
  const ended = new AbortController()
  const reading = queue.next(reporter, ended.signal)
  await vi.waitFor(() => expect(turn.given).toBeGreaterThan(0))
  ended.abort()
  expect([await reading, marked, cursors.get('reporter')?.delivered]).toEqual([[], [], null])
  turn.isHeld = true
  expect(await queue.next(reporter, never)).toHaveLength(2)
  // each reading asks for the cursors of other sidecars
  expect(fresh.mock.calls.length).toBe(service.readings)
})

test.each(['lost', 'asked'] as const)('a reading ends when its turn is %s', async (how) => {
  const { turn, turns } = playedTurns()
  const { poller } = playedService()
  const read = vi.spyOn(poller, 'next')
  const { queue } = await queueOf({ turns, poller })
  const ended = new AbortController()
  const reading = queue.next(reporter, ended.signal)
  await vi.waitFor(() => expect(read).toHaveBeenCalled())
  turn[how].abort()
  expect(read.mock.calls[0]?.[0].aborted).toBe(true)
  ended.abort()
  expect(await reading).toEqual([])
})

test('a reading after a request for its turn leaves the other sidecar two seconds', async () => {
  const { turn, turns } = playedTurns()
  const { queue, service, clock } = await queueOf({ turns })
  turn.asked.abort()
  const ended = new AbortController()
  const reading = queue.next(reporter, ended.signal)
  await rest()
  const { readings } = service
  await clock.pass(1999)
  expect(service.readings).toBe(readings)
  await clock.pass(1)
  expect(service.readings).toBeGreaterThan(readings)
  ended.abort()
  await reading
})

test('the bot begins after the update of its webhook, reads all, and confirms below its offset', async () => {
  const { queue, service, poller, clock, cursors } = await queueOf({ botHas: () => deliveredAt(1) })
  service.ids = [1, 2, 3, 4]
  expect(await queue.next(reporter, never)).toHaveLength(4)
  poller.confirmsEach = true
  await clock.pass(10_000)
  expect(given(await queue.next(all(BOT), never))).toEqual([2, 3, 4])
  expect(await queue.recordBelow(all(BOT), 2)).toBe(false)
  expect(await queue.recordBelow(all(BOT), 4)).toBe(true)
  expect(cursors.get(BOT)?.delivered?.updateId).toBe(3)
})

/** Consumers over a played service; a loop notes how it is stopped, and ends when a test says so. */
async function consumersOf() {
  const { service, poller } = playedService()
  const stops: object[] = []
  const client = clientOf()
  const cursors = await Cursors.load(await open(temporary(), { protection: 'none' }))
  const ended = Promise.withResolvers<void>()
  const stop = async (how: object): Promise<void> => {
    stops.push(how)
    await ended.promise
  }
  const makeLoop = vi.fn(() => ({ stop }))
  const hook = { url: 'https://a.example', secret: null, kinds: null, reader: clientOf() }
  const parts = { poller, cursors, turns: null, botHas: () => null, given: [hook], makeLoop }
  const clients = { named: () => client, reader: () => () => true }
  const clock = playedClock()
  const started = (): Consumers => {
    const more = { clients, hasBot: () => true, clock }
    return new Consumers({ ...parts, ...more } as unknown as ConsumersParts)
  }
  const consumers = started()
  const poll = async (offset = 0, by: typeof client | null = client, from = consumers) => {
    const caller = { client: by, stillMay: OWN_CALL }
    const found = await from.poll(caller, { below: offset, limit: 2, timeoutSeconds: 0 }, never)
    return found.map((one) => Object.values(one as object).join(' '))
  }
  return { consumers, started, service, poll, stops, ended, cursors, clock, makeLoop }
}

test('the pages of a client are numbered on, after a restart and a lost cursor too', async () => {
  const { service, poll, cursors, started } = await consumersOf()
  service.ids = [901, 902, 903, 904, 905]
  expect(await poll()).toEqual(['1 901', '2 902'])
  expect(await poll(3)).toEqual(['3 903', '4 904'])
  expect(await poll(4, undefined, started())).toEqual(['4 904', '5 905'])
  await cursors.remove('reporter')
  expect(await poll(6)).toEqual(['6 901', '7 902'])
})

test('webhooks of the settings are delivered to once, again after a hold, and end with all', async () => {
  const { consumers, stops, ended, makeLoop } = await consumersOf()
  for (let n = 0; n < 2; n++) consumers.start()
  expect(makeLoop).toHaveBeenCalledTimes(1)
  consumers.hold()
  consumers.start()
  expect(makeLoop).toHaveBeenCalledTimes(2)
  const isEnded = vi.fn()
  const ending = consumers[Symbol.asyncDispose]().then(isEnded)
  await rest()
  expect(stops).toEqual([{ graceMs: 5000, confirms: false }, { graceMs: 5000 }])
  expect(isEnded).not.toHaveBeenCalled()
  ended.resolve()
  await ending
})

test('a delivery to the bot beside other readers is recorded as its webhook’s and as its own', async () => {
  const { consumers, cursors } = await consumersOf()
  const recordDelivered = vi.fn(async () => {})
  const recorder = consumers.ofBot({ webhook: null, recordDelivered } as never)
  await recorder.recordDelivered(deliveredAt(4), () => true)
  const alone = { isAlone: false }
  expect(recordDelivered.mock.calls).toEqual([[deliveredAt(4), expect.any(Function), alone]])
  recordDelivered.mockRejectedValue(new Refusal('postern_store_unwritable'))
  await expect(recorder.recordDelivered(deliveredAt(5), () => true)).rejects.toThrow()
  expect(cursors.get(BOT)?.delivered).toEqual(deliveredAt(4))
})

test('a success ends the failures of a consumer’s webhook', async () => {
  const hook = keptWebhook({ url: 'u', secret: null }, async () => {})
  await hook.recordAttempt({ lastError: 'x', nextAttemptAt: 1 })
  expect(hook.webhook?.failures).toBe(1)
  await hook.recordAttempt(null)
  expect(hook.webhook?.failures).toBe(0)
})

test('a consumer whose queue cannot be read is served again a second later', async () => {
  const { consumers, clock } = await consumersOf()
  vi.spyOn(consumers.queue, 'next').mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  const found = vi.fn()
  void consumers.sourceOf(reporter).next(never).then(found)
  await rest()
  await clock.pass(999)
  expect(found).not.toHaveBeenCalled()
  await clock.pass(1)
  expect(found).toHaveBeenCalledWith([])
})

test.each([
  ['lost', { graceMs: 0, confirms: false }],
  ['asked', { graceMs: 0, confirms: true }],
  ['stopped', { graceMs: 77, confirms: true }],
])('a turn that is %s ends its deliveries by %j', async (end, how) => {
  const { turn, turns } = playedTurns()
  const order: unknown[] = []
  const stop = async (by: object): Promise<void> => void order.push(by)
  const deliveries = new DeliveryTurns({
    turns: turns as never,
    clock: playedClock(),
    fresh: async () => {
      await nextTurn()
      order.push('fresh')
    },
    makeLoop: () => {
      order.push('loop')
      return { stop } as never
    },
  })
  await vi.waitFor(() => expect(order).toEqual(['fresh', 'loop']))
  turn.isHeld = end !== 'lost'
  if (end === 'lost') turn.lost.abort()
  else if (end === 'asked') turn.asked.abort()
  else await deliveries.stop({ graceMs: 77 })
  await vi.waitFor(() => expect([order.at(-1), turn.given]).toEqual([how, 1]))
  await deliveries.stop({ graceMs: 0 })
})
