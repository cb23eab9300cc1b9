/** One queue for several consumers, over a service and a clock that a test plays. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { BOT, Cursors } from '../../src/updates/cursors.ts'
import { SharedQueue, type Consumer, type Laggard } from '../../src/updates/shared-queue.ts'
import type { Delivered } from '../../src/updates/update-batch.ts'
import { open, temporary } from '../store/support.ts'
import { playedClock, rest } from '../support/played-clock.ts'

const HOUR_MS = 3_600_000
const all = (name: string): Consumer => ({ name, sees: () => true })
/** Sees updates with an even id. */
const even = (name: string): Consumer => ({
  name,
  sees: (update) => (update as { updateId: number }).updateId % 2 === 0,
})

/** A service that has the updates of these ids, less those that were confirmed. */
async function scene(o: { consumers?: Consumer[]; asked?: AbortSignal } = {}) {
  const store = await open(temporary(), { protection: 'none' })
  const clock = playedClock()
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const service = { ids: [] as number[], mark: 'm', readings: 0 }
  const marked: number[] = []
  let confirms = 0
  const poller = {
    confirmsEach: false,
    next: async () => {
      service.readings += 1
      const confirmed = marked.slice(confirms)
      confirms = marked.length
      service.ids = service.ids.filter((id) => confirmed.every((below) => id > below))
      await rest()
      return service.ids.slice(0, 100).map((updateId) => {
        return { update: { updateId }, delivered: { updateId, mark: service.mark } }
      })
    },
    markDelivered: ({ updateId }: Delivered) => void marked.push(updateId),
    confirm: async () => {},
  }
  const { consumers = [all(BOT), all('reporter'), even('half')] } = o
  const open_ = async () =>
    new SharedQueue({
      poller,
      cursors: await Cursors.load(store),
      clock,
      turns: null,
      botHas: () => null,
      consumerOf: (name) => consumers.find((one) => one.name === name) ?? null,
      stopping: stopping.signal,
    })
  const queue = await open_()
  const dropped: Laggard[] = []
  const behind: string[][] = []
  queue.onLaggards((laggards) => {
    dropped.push(...laggards.dropped)
    behind.push(laggards.behind.map(({ name }) => name))
  })
  /** What a consumer is given now; with `has` it has it, too. */
  const read = async (one: Consumer, has?: 'has', from = queue): Promise<number[]> => {
    const ended = new AbortController()
    const reading = from.next(one, ended.signal)
    await rest()
    await clock.pass(1000)
    ended.abort()
    const found = await reading
    const last = found.at(-1)
    if (has !== undefined && last !== undefined) await from.record(one.name, last.delivered)
    return found.map(({ delivered }) => delivered.updateId)
  }
  return { store, clock, service, marked, queue, dropped, behind, read, open: open_ }
}

test('what all have, or may not see, is confirmed, and nothing else', async () => {
  const { service, read, marked } = await scene()
  service.ids = [1, 2, 3, 4]
  expect(await read(all('reporter'), 'has')).toEqual([1, 2, 3, 4])
  expect(marked).toEqual([])
  expect(await read(even('half'), 'has')).toEqual([2, 4])
  expect(marked).toEqual([])
  expect(await read(all(BOT), 'has')).toEqual([1, 2, 3, 4])
  expect(marked.at(-1)).toBe(4)
  service.ids = [5, 6]
  expect(await read(even('half'))).toEqual([6])
  expect(service.ids).toEqual([5, 6])
})

test('what is new waits for whoever has it not, also after another start', async () => {
  const { service, read, open: reopen } = await scene()
  service.ids = [1, 2]
  await read(all('reporter'), 'has')
  service.ids.push(3)
  const again = await reopen()
  expect(await read(all('reporter'), undefined, again)).toEqual([3])
  expect(await read(all(BOT), undefined, again)).toEqual([1, 2, 3])
})

test('updates that were opened long ago are opened anew before they are given', async () => {
  const { service, read, clock } = await scene()
  service.ids = [1]
  await read(all('reporter'))
  const { readings } = service
  await read(all('reporter'))
  expect(service.readings).toBe(readings)
  await clock.pass(10_000)
  expect(await read(all('reporter'))).toEqual([1])
  expect(service.readings).toBe(readings + 1)
})

test('a service whose ids begin anew gives everything to everybody once more', async () => {
  const { service, read } = await scene()
  service.ids = [8, 9]
  for (const one of [all('reporter'), all(BOT), all(BOT)]) await read(one, 'has')
  expect(service.ids).toEqual([])
  service.ids = [1, 2]
  expect(await read(all('reporter'), 'has')).toEqual([1, 2])
  expect(await read(all(BOT))).toEqual([1, 2])
})

test('an update of another life of the service is new under the id of one before', async () => {
  const { service, read } = await scene()
  service.ids = [8, 9]
  await read(all('reporter'), 'has')
  service.mark = 'other'
  await read(all(BOT))
  expect(await read(all('reporter'))).toEqual([8, 9])
})

test('whoever is 90 updates behind for a minute loses them, 45 are a warning; the bot never does', async () => {
  const { service, read, dropped, behind, marked, clock } = await scene()
  const ids = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)
  service.ids = ids(1)
  await read(all('reporter'))
  service.ids = ids(44)
  await clock.pass(10_000)
  await read(all(BOT))
  expect(behind).toEqual([])
  service.ids = ids(45)
  await clock.pass(10_000)
  await read(all(BOT))
  expect([behind, dropped]).toEqual([[['reporter']], []])
  service.ids = ids(90)
  await clock.pass(10_000)
  await read(all(BOT))
  await clock.pass(40_000)
  await read(all(BOT))
  expect(dropped).toEqual([])
  await clock.pass(20_000)
  await read(all(BOT))
  expect(dropped).toEqual([{ name: 'reporter', count: 90 }])
  expect(behind.at(-1)).toEqual([])
  expect(marked).toEqual([])
  await read(all(BOT), 'has')
  expect(marked.at(-1)).toBe(90)
})

test('one update that waits for six hours is lost to whoever leaves it, ten minutes are a warning', async () => {
  const { service, read, dropped, behind, clock } = await scene()
  service.ids = [1]
  await read(all('reporter'))
  await clock.pass(HOUR_MS / 6 - 10_000)
  await read(all(BOT))
  expect(behind).toEqual([])
  await clock.pass(10_000)
  await read(all(BOT))
  expect(behind).toEqual([['reporter']])
  await clock.pass(6 * HOUR_MS - HOUR_MS / 6 - 20_000)
  await read(all(BOT))
  expect(dropped).toEqual([])
  await clock.pass(20_000)
  await read(all(BOT))
  expect(dropped).toEqual([{ name: 'reporter', count: 1 }])
})

test('who may read no more holds nothing back', async () => {
  const consumers = [all(BOT), all('reporter')]
  const { service, read, marked, queue, clock } = await scene({ consumers })
  service.ids = [1]
  await read(all('reporter'))
  await read(all(BOT), 'has')
  expect(marked).toEqual([])
  consumers.pop()
  await clock.pass(10_000)
  await read(all(BOT))
  expect(queue.isShared).toBe(false)
  expect(marked).toEqual([1])
})

test('two that wait share one reading, and the end of one leaves the other’s', async () => {
  const { service, queue } = await scene()
  const ended = new AbortController()
  const [first, second] = [
    queue.next(all('reporter'), ended.signal),
    queue.next(all(BOT), new AbortController().signal),
  ]
  ended.abort()
  expect(await first).toEqual([])
  service.ids = [1]
  expect(await second).toHaveLength(1)
  expect(service.readings).toBeLessThan(4)
})

test('a store that cannot be written is an error for whoever asks, and confirms nothing', async () => {
  const { store, service, read, queue, marked } = await scene()
  service.ids = [1]
  await read(all(BOT))
  const failure = new Refusal('postern_store_unwritable')
  const failing = vi.spyOn(store, 'write').mockRejectedValue(failure)
  await expect(queue.next(all('reporter'), new AbortController().signal)).rejects.toBe(failure)
  failing.mockRestore()
  expect(marked).toEqual([])
})
