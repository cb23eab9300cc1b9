/** Several consumers of one queue where a part of it fails, stops or lags. */
import { expect, test } from 'vitest'
import { BOT } from '../../src/updates/cursors.ts'
import type { Consumer } from '../../src/updates/shared-queue.ts'
import { rest } from '../support/played-clock.ts'
import { all, queueScene as scene } from './shared-scene.ts'

const only = (name: string, ids: number[]): Consumer => ({
  name,
  sees: (update) => ids.includes((update as { updateId: number }).updateId),
})
const ids = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

test('a consumer that waits while the sidecar stops does not read in a busy loop', async () => {
  const one = await scene([all(BOT), all('reporter')])
  const waiting = one.queue.next(all('reporter'), new AbortController().signal)
  one.stopping.abort()
  await Promise.race([waiting, rest()])
  expect(one.service.readings).toBeLessThan(10)
})

test('a consumer that leaves one update unread does not stop the bot', async () => {
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
  expect(one.cursors.get(BOT)?.delivered?.updateId).toBeGreaterThan(140)
})

test('a burst of 95 updates is not dropped for a consumer that had no time to read it', async () => {
  const one = await scene([all('reporter'), all('watcher')])
  await one.read(all('reporter'))
  await one.read(all('watcher'))
  one.service.ids = ids(1, 95)
  await one.clock.pass(10_000)
  expect(await one.read(all('reporter'), 'has')).toHaveLength(95)
  expect(await one.read(all('watcher'))).toHaveLength(95)
})

test('the bot receives its next update singly although another consumer left earlier updates', async () => {
  const one = await scene([all(BOT), all('reporter')])
  one.service.ids = [1, 2]
  await one.read(all('reporter'))
  await one.read(all(BOT), 'has')
  one.poller.confirmsEach = true
  one.service.ids.push(3)
  await one.clock.pass(10_000)
  expect(await one.read(all(BOT), 'has')).toEqual([3])
})

test('a shorter reading repeats no update that the bot already has', async () => {
  const one = await scene([all(BOT), all('reporter')])
  one.service.ids = [1, 2, 3]
  await one.read(all('reporter'))
  await one.read(all(BOT), 'has')
  one.service.prefix = 1
  await one.clock.pass(10_000)
  expect(await one.read(all(BOT))).toEqual([])
})
