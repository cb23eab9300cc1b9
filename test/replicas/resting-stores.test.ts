/** When the stores of bots at rest are asked for, by a database that a test plays. */
import { describe, expect, test, vi } from 'vitest'
import type { LockServer } from '../../src/replicas/locks.ts'
import { RestingStores, type RestingStore } from '../../src/replicas/resting-stores.ts'
import { useFakeTime } from '../support/fake-time.ts'

useFakeTime({ toFake: ['performance'] }, 1_000_000)
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** So many stores that have read everything up to epoch 5, which others may raise. */
function scene(count = 2) {
  const epochs = new Map<string, number>()
  const asked: string[][] = []
  const session = { generation: 1, isConnected: true }
  const database = { isLost: false, sidecars: 3 }
  const ask = async (text: string) => {
    const schemas = [...text.matchAll(/FROM "(\w+)"\.state/g)].map(([, schema = '']) => schema)
    asked.push(schemas)
    if (database.isLost) throw new Error('lost')
    return schemas.map((schema, n) => ({
      n,
      epoch: epochs.get(schema) ?? 5,
      sidecars: database.sidecars,
    }))
  }
  const resting = new RestingStores({ session, ask } as unknown as LockServer)
  const stores = Array.from({ length: count }, (_, n): RestingStore => {
    const at = { atMs: performance.now(), generation: 1 }
    return { schema: `s${n}`, seen: 5, asked: at, counted: { ...at, sidecars: 2 } }
  })
  for (const one of stores) resting.add(one)
  const [first, second] = stores as [RestingStore, RestingStore]
  return { resting, stores, first, second, epochs, asked, session, database }
}

describe('a store at rest', () => {
  test('has nothing to read for five seconds, and is asked for then', async () => {
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

  test('is asked for together with all that are half as old, the oldest first', async () => {
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

  test('is asked for less often among more than a hundred, fifty at a time', async () => {
    const { resting, first, asked } = scene(120)
    pass(6000)
    await resting.isUpToDate(first)
    expect(asked).toEqual([])
    pass(1)
    await resting.isUpToDate(first)
    expect(asked.map(({ length }) => length)).toEqual([50])
  })

  test.each<[string, (o: ReturnType<typeof scene>) => unknown]>([
    ['the connection is another', ({ session }) => session.generation++],
    ['the connection is lost', ({ session }) => (session.isConnected = false)],
    ['others have written since', ({ first }) => (first.asked = null)],
  ])('asks by itself where %s', async (_why, change) => {
    const all = scene()
    change(all)
    expect([await all.resting.isUpToDate(all.first), all.asked]).toEqual([false, []])
  })

  test('counts as one with something to read where the database does not answer', async () => {
    const { resting, first, second, database } = scene()
    database.isLost = true
    pass(5001)
    expect(await resting.isUpToDate(first)).toBe(false)
    expect([second.asked, second.counted]).toEqual([null, null])
  })

  test('has as many sidecars as the last answer said, and at least one', async () => {
    const { resting, first, asked, database } = scene()
    const count = () => resting.countSidecars(first)
    expect([await count(), asked]).toEqual([2, []])
    pass(5001)
    expect([await count(), asked.length]).toEqual([3, 1])
    first.counted = null
    expect([await count(), asked.length]).toEqual([3, 2])
    database.sidecars = 0
    pass(5001)
    expect(await count()).toBe(1)
  })

  test('has no count while the database does not answer, and the next call asks again', async () => {
    const { resting, first, second, database } = scene()
    const counts = () =>
      Promise.allSettled([first, second].map((one) => resting.countSidecars(one)))
    database.isLost = true
    pass(5001)
    expect((await counts()).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    database.isLost = false
    expect((await counts()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })

  test('is asked for once by those that ask at the same time', async () => {
    const { resting, first, second, asked } = scene()
    pass(5001)
    await Promise.all([first, second].map((one) => resting.countSidecars(one)))
    expect(asked).toHaveLength(1)
  })
})
