/** Several consumers of one queue where a part of it fails, stops or lags. */
import { expect, onTestFinished, test } from 'vitest'
import { BOT, Cursors } from '../../src/updates/cursors.ts'
import { SharedQueue, type Consumer } from '../../src/updates/shared-queue.ts'
import type { Delivered } from '../../src/updates/update-batch.ts'
import { open, temporary } from '../store/support.ts'
import { playedClock, rest } from '../support/played-clock.ts'

const all = (name: string): Consumer => ({ name, sees: () => true })
const only = (name: string, ids: number[]): Consumer => ({
  name,
  sees: (update) => ids.includes((update as { updateId: number }).updateId),
})
const ids = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

async function scene(consumers: Consumer[]) {
  const store = await open(temporary(), { protection: 'none' })
  const clock = playedClock()
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const service = { ids: [] as number[], readings: 0, prefix: 100 }
  let below = 0
  const poller = {
    confirmsEach: false,
    next: async (stop: AbortSignal) => {
      service.readings += 1
      if (service.readings > 2000) return await new Promise<never>(() => {})
      if (stop.aborted) return []
      await rest()
      service.ids = service.ids.filter((id) => id > below)
      const limit = poller.confirmsEach ? 1 : 100
      return service.ids
        .slice(0, limit)
        .slice(0, service.prefix)
        .map((updateId) => ({
          update: { updateId, n: updateId },
          delivered: { updateId, mark: 'm' },
        }))
    },
    markDelivered: ({ updateId }: Delivered) => void (below = updateId),
    confirm: async () => {},
    wake: () => {},
    unconfirmedCount: 0,
  }
  const parts = {
    poller,
    cursors: await Cursors.load(store),
    clock,
    turns: null,
    botHas: () => null,
  }
  const consumerOf = (name: string) => consumers.find((one) => one.name === name) ?? null
  const queue = new SharedQueue({ ...parts, consumerOf, stopping: stopping.signal })
  const read = async (one: Consumer, has?: 'has'): Promise<number[]> => {
    const ended = new AbortController()
    const reading = queue.next(one, ended.signal)
    await rest()
    await clock.pass(1000)
    ended.abort()
    const found = await reading
    const last = found.at(-1)
    if (has !== undefined && last !== undefined) await queue.record(one.name, last.delivered)
    return found.map(({ delivered }) => delivered.updateId)
  }
  return { queue, read, service, clock, poller, stopping, parts, store }
}

test('a reader that waits while the sidecar stops does not read without end', async () => {
  const one = await scene([all(BOT), all('reporter')])
  const waiting = one.queue.next(all('reporter'), new AbortController().signal)
  one.stopping.abort()
  await Promise.race([waiting, rest()])
  expect(one.service.readings).toBeLessThan(10)
})

test('a consumer with one update that it leaves does not stop the bot', async () => {
  const narrow = only('narrow', [1])
  const one = await scene([all(BOT), narrow])
  one.service.ids = [1]
  await one.read(narrow)
  one.service.ids = ids(1, 150)
  for (let n = 0; n < 20; n++) {
    await one.clock.pass(10_000)
    await one.read(all(BOT), 'has')
  }
  await one.clock.pass(10_000)
  one.service.ids.push(151)
  expect(one.parts.cursors.get(BOT)?.delivered?.updateId).toBeGreaterThan(140)
})

test('a burst is not lost to those who had no time to get it', async () => {
  const one = await scene([all('reporter'), all('watcher')])
  await one.read(all('reporter'))
  await one.read(all('watcher'))
  one.service.ids = ids(1, 95)
  await one.clock.pass(10_000)
  expect(await one.read(all('reporter'), 'has')).toHaveLength(95)
  expect(await one.read(all('watcher'))).toHaveLength(95)
})

test('a failed record does not leave the bot with one update at a time that another left', async () => {
  const one = await scene([all(BOT), all('reporter')])
  one.service.ids = [1, 2]
  await one.read(all('reporter'))
  await one.read(all(BOT), 'has')
  one.poller.confirmsEach = true
  one.service.ids.push(3)
  await one.clock.pass(10_000)
  expect(await one.read(all(BOT), 'has')).toEqual([3])
})

test('a reading of fewer updates gives nobody those it has', async () => {
  const one = await scene([all(BOT), all('reporter')])
  one.service.ids = [1, 2, 3]
  await one.read(all('reporter'))
  await one.read(all(BOT), 'has')
  one.service.prefix = 1
  await one.clock.pass(10_000)
  expect(await one.read(all(BOT))).toEqual([])
})
