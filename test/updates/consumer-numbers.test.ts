/** The numbers by which a client confirms its updates. */
import { expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/kernel/index.ts'
import { Cursors } from '../../src/updates/cursors.ts'
import { Consumers, type ConsumersParts } from '../../src/updates/consumers.ts'
import { open, temporary } from '../store/support.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { playedService } from './shared-scene.ts'

/** A client that polls a service which has the updates of these ids, as it sees them. */
async function scene(sees: { of: (update: unknown) => boolean }) {
  const clock = playedClock()
  const { service, poller } = playedService()
  const client = { name: 'reporter', files: true }
  const consumers = new Consumers({
    poller,
    cursors: await Cursors.load(await open(temporary(), { protection: 'none' })),
    clock,
    turns: null,
    botHas: () => null,
    given: [],
    clients: { named: () => client, reader: () => (update: unknown) => sees.of(update) },
    hasBot: () => false,
    makeLoop: () => ({ stop: async () => {} }),
  } as unknown as ConsumersParts)
  onTestFinished(() => consumers[Symbol.asyncDispose]())
  const poll = async (offset: number): Promise<unknown[]> => {
    const ended = new AbortController()
    const asked = { offset, limit: 100, timeoutMs: 60_000 }
    const polling = consumers.poll(client as Client, asked, ended.signal)
    await rest()
    await clock.pass(1000)
    ended.abort()
    return await polling
  }
  return { clock, service, poll }
}

test('a client whose cursor is gone receives every update, although its offset is above them all', async () => {
  const one = await scene({ of: () => true })
  one.service.ids = [901, 902, 903]
  expect(await one.poll(41)).toHaveLength(3)
})

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
