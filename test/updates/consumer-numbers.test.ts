/** The numbers by which a client confirms its updates. */
import { expect, onTestFinished, test } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import type { Client } from '../../src/clients/records.ts'
import { Cursors } from '../../src/updates/cursors.ts'
import { Consumers, type ConsumersParts } from '../../src/updates/consumers.ts'
import { open, temporary } from '../store/support.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { playedService } from './shared-scene.ts'

/** A client that polls a service which has the updates of these ids, as it sees them, at two sidecars. */
async function scene(sees: { of: (update: unknown) => boolean } = { of: () => true }) {
  const clock = playedClock()
  const { service, poller } = playedService()
  const client = { name: 'reporter', files: true }
  const cursors = await Cursors.load(await open(temporary(), { protection: 'none' }))
  const parts = {
    poller,
    cursors,
    clock,
    turns: null,
    botHas: () => null,
    given: [],
    clients: { named: () => client, reader: () => (update: unknown) => sees.of(update) },
    hasBot: () => false,
    makeLoop: () => ({ stop: async () => {} }),
  } as unknown as ConsumersParts
  const sidecars = [new Consumers(parts), new Consumers(parts)]
  onTestFinished(async () => {
    for (const one of sidecars) await one[Symbol.asyncDispose]()
  })
  const poll = async (offset: number, at: 0 | 1 = 0, limit = 100): Promise<unknown[]> => {
    const ended = new AbortController()
    const by = { client: client as Client, stillMay: OWN_CALL }
    const asked = { below: offset, limit, timeoutSeconds: 60 }
    const consumers = sidecars[at] as Consumers
    const polling = consumers.poll(by, asked, ended.signal)
    await rest()
    await clock.pass(1000)
    ended.abort()
    return await polling
  }
  return { clock, service, cursors, poll }
}

test('a client whose scope becomes narrower loses no update that it never received', async () => {
  const sees = { of: (update: unknown): boolean => update !== null }
  const one = await scene(sees)
  one.service.ids = [1, 2]
  expect(await one.poll(0)).toHaveLength(2)
  sees.of = (update) => (update as { updateId: number }).updateId !== 1
  await one.poll(3)
  one.service.ids.push(3)
  await one.clock.pass(10_000)
  expect(await one.poll(3)).toEqual([{ updateId: 3, n: 3 }])
})

/** The numbers and the ids that the service has for them. */
const numbersOf = (updates: unknown[]) =>
  (updates as { updateId: number; n: number }[]).map(({ updateId, n }) => [updateId, n])

test('a client that polls two sidecars in turns receives nothing below its offset from an older reading', async () => {
  const { service, clock, poll } = await scene()
  service.ids = [11]
  expect(numbersOf(await poll(1, 1))).toEqual([[1, 11]])
  service.ids.push(12, 13)
  expect(numbersOf(await poll(1, 0))).toEqual([
    [1, 11],
    [2, 12],
    [3, 13],
  ])
  // the second sidecar still has its reading of one update
  expect(numbersOf(await poll(1, 1))).toEqual([[1, 11]])
  expect(await poll(4, 1)).toEqual([])
  service.ids.push(14)
  await clock.pass(10_000)
  expect(numbersOf(await poll(4, 1))).toEqual([[4, 14]])
  expect(await poll(5, 0)).toEqual([])
})

test('a client’s offset counts at the other sidecar, and only for updates that the client was shown', async () => {
  const { service, clock, poll } = await scene()
  service.ids = [11, 12, 13]
  expect(numbersOf(await poll(0, 0, 2))).toHaveLength(2)
  await clock.pass(10_000)
  expect(numbersOf(await poll(3, 1))).toEqual([[3, 13]])
  await clock.pass(10_000)
  // 13 was shown, and nothing else: what arrives later is new, whatever the offset
  service.ids.push(14)
  expect(numbersOf(await poll(9, 0))).toEqual([[9, 14]])
})

test('an update that a client has confirmed at another sidecar meanwhile receives no number', async () => {
  const { cursors, service, poll } = await scene()
  service.ids = [11, 12]
  await poll(0)
  await cursors.moveBelow('reporter', 3)
  const shown = [11, 12].map((updateId) => ({ updateId, mark: 'm' }))
  expect(await cursors.show('reporter', shown)).toBe(null)
  await cursors.moveBelow('reporter', 2)
  expect(cursors.get('reporter')).toMatchObject({ given: 2, delivered: { updateId: 12 } })
})
