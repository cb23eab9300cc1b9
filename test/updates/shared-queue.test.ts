/** One queue for several consumers, over a service and a clock that a test plays. */
import { expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { BOT } from '../../src/updates/cursors.ts'
import type { Consumer } from '../../src/updates/shared-queue.ts'
import { all, queueScene } from './shared-scene.ts'

const HOUR_MS = 3_600_000
/** Sees updates with an even id. */
const even = (name: string): Consumer => ({
  name,
  sees: (update) => (update as { updateId: number }).updateId % 2 === 0,
})

const scene = (consumers = [all(BOT), all('reporter'), even('half')]) => queueScene(consumers)

test('a `SharedQueue` confirms an update once each consumer that may see it has it', async () => {
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

test('a consumer receives the updates that it does not have yet, also from a reopened `SharedQueue`', async () => {
  const { service, read, reopened } = await scene()
  service.ids = [1, 2]
  await read(all('reporter'), 'has')
  service.ids.push(3)
  const { queue: again } = await reopened()
  expect(await read(all('reporter'), undefined, again)).toEqual([3])
  expect(await read(all(BOT), undefined, again)).toEqual([1, 2, 3])
})

test('a `SharedQueue` reads updates again once ten seconds have passed since it opened them', async () => {
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

test('a service that restarts its ids makes a `SharedQueue` deliver the new updates to every consumer', async () => {
  const { service, read } = await scene()
  service.ids = [8, 9]
  for (const one of [all('reporter'), all(BOT), all(BOT)]) await read(one, 'has')
  expect(service.ids).toEqual([])
  service.ids = [1, 2]
  expect(await read(all('reporter'), 'has')).toEqual([1, 2])
  expect(await read(all(BOT))).toEqual([1, 2])
})

test('a service that forgets a confirmation gives nobody an update again, read one by one or left unopened', async () => {
  const { service, read, poller, reopened } = await scene()
  service.ids = [7, 8, 9]
  for (const one of [all('reporter'), all(BOT), even('half')]) await read(one, 'has')
  expect(await read(all(BOT))).toEqual([])
  poller.confirmsEach = true
  service.ids = [7, 8, 9, 10]
  for (let n = 0; n < 4; n++) expect([[], [10]]).toContainEqual(await read(all('reporter')))
  expect(await read(all('reporter'))).toEqual([10])
  poller.confirmsEach = false
  Object.assign(service, { ids: [7, 8, 9, 10], opened: 1 })
  const { queue: again } = await reopened()
  expect(await read(all('reporter'), undefined, again)).toEqual([])
})

test('an update with a known id and another content counts as new', async () => {
  const { service, read } = await scene()
  service.ids = [8, 9]
  await read(all('reporter'), 'has')
  service.mark = 'other'
  await read(all(BOT))
  expect(await read(all('reporter'))).toEqual([8, 9])
})

test.each([100, 10])(
  'a consumer 90 % behind with %i updates for a minute loses them, 45 % are a warning, and the bot loses none',
  async (most) => {
    const { service, read, dropped, behind, marked, clock, poller } = await scene()
    poller.limit = service.prefix = most
    const part = (percent: number): number => Math.ceil((most * percent) / 100)
    const ids = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)
    service.ids = ids(1)
    await read(all('reporter'))
    service.ids = ids(part(45) - 1)
    await clock.pass(10_000)
    await read(all(BOT))
    expect(behind).toEqual([])
    service.ids = ids(part(45))
    await clock.pass(10_000)
    await read(all(BOT))
    expect([behind, dropped]).toEqual([[['reporter']], []])
    service.ids = ids(part(90))
    await clock.pass(10_000)
    await read(all(BOT))
    await clock.pass(40_000)
    await read(all(BOT))
    expect(dropped).toEqual([])
    await clock.pass(20_000)
    await read(all(BOT))
    expect(dropped).toEqual([{ name: 'reporter', count: part(90) }])
    expect(behind.at(-1)).toEqual([])
    expect(marked).toEqual([])
    await read(all(BOT), 'has')
    expect(marked.at(-1)).toBe(part(90))
  },
)

test('a consumer loses an update that it leaves for six hours, after a warning at ten minutes', async () => {
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

test('a consumer that no longer exists does not delay the confirmation of updates', async () => {
  const consumers = [all(BOT), all('reporter')]
  const { service, read, marked, queue, clock } = await scene(consumers)
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

test('two waiting consumers share one reading, and the end of one does not end the other', async () => {
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

test('an unwritable store is an error for the reading consumer, and no update is confirmed', async () => {
  const { store, service, read, queue, marked } = await scene()
  service.ids = [1]
  await read(all(BOT))
  const failure = new Refusal('postern_store_unwritable')
  const failing = vi.spyOn(store, 'write').mockRejectedValue(failure)
  await expect(queue.next(all('reporter'), new AbortController().signal)).rejects.toBe(failure)
  failing.mockRestore()
  expect(marked).toEqual([])
})
