/** When the stores of bots at rest are asked for, by a database that a test plays. */
import { expect, test, vi } from 'vitest'
import type { LockServer } from '../../../src/store/postgres/locks.ts'
import { RestingStores, type RestingStore } from '../../../src/store/postgres/resting-stores.ts'
import { useFakeTime } from '../../support/fake-time.ts'

useFakeTime({ toFake: ['performance'] }, 1_000_000)
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** So many stores that have read everything up to epoch 5, which others may raise. */
function scene(count = 2) {
  const epochs = new Map<string, number>()
  const asked: string[][] = []
  const session = { generation: 1, isConnected: true }
  const ask = async (text: string) => {
    const schemas = [...text.matchAll(/FROM "(\w+)"\.state/g)].map(([, schema = '']) => schema)
    asked.push(schemas)
    return schemas.map((schema, n) => ({ n, epoch: epochs.get(schema) ?? 5, sidecars: 3 }))
  }
  const resting = new RestingStores({ session, ask } as unknown as LockServer)
  const stores = Array.from({ length: count }, (_, n): RestingStore => {
    const at = { atMs: performance.now(), generation: 1 }
    return { schema: `s${n}`, seen: 5, asked: at, counted: { ...at, sidecars: 2 } }
  })
  for (const one of stores) resting.add(one)
  return { resting, stores, first: stores[0] as RestingStore, epochs, asked }
}

test('`RestingStores` queries a store after five seconds, and knows then that others have written', async () => {
  const { resting, first, asked, epochs } = scene()
  pass(5000)
  expect([await resting.isUpToDate(first), asked]).toEqual([true, []])
  pass(1)
  expect([await resting.isUpToDate(first), asked]).toEqual([true, [['s0', 's1']]])
  epochs.set('s0', 6)
  pass(5001)
  expect(await resting.isUpToDate(first)).toBe(false)
  expect([await resting.isUpToDate(first), asked.length]).toEqual([false, 2])
})

test('`RestingStores` queries all stores that are at least half as old together, the oldest first', async () => {
  const { resting, first, stores, asked } = scene(3)
  const at = (agoMs: number) => ({ atMs: performance.now() - agoMs, generation: 1, sidecars: 1 })
  for (const [n, agoMs] of [5001, 2500, 2501].entries()) {
    Object.assign(stores[n] ?? {}, { asked: at(agoMs), counted: at(agoMs) })
  }
  await resting.isUpToDate(first)
  expect(asked).toEqual([['s0', 's2']])
  Object.assign(stores[1] ?? {}, { asked: at(9000), counted: null })
  pass(5001)
  await resting.isUpToDate(first)
  expect(asked[1]?.[0]).toBe('s1')
  resting.delete(stores[2] as RestingStore)
  pass(5001)
  await resting.isUpToDate(first)
  expect(asked[2]).not.toContain('s2')
})

test('`RestingStores` queries more than a hundred stores less often, fifty in a query', async () => {
  const { resting, first, asked } = scene(120)
  pass(6000)
  await resting.isUpToDate(first)
  expect(asked).toEqual([])
  pass(1)
  await resting.isUpToDate(first)
  expect(asked.map(({ length }) => length)).toEqual([50])
})
