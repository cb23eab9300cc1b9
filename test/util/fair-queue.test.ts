import { expect, test, vi } from 'vitest'
import { FairQueue, type Lane } from '../../src/util/fair-queue.ts'

/** Tasks that note when they begin, and end when they are told to. */
function tasks() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const add = (lane: Lane, name: string): Promise<void> =>
    lane.run(() => {
      begun.push(name)
      return new Promise((resolve) => ends.push(resolve))
    })
  const endOne = async (): Promise<void> => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, add, endOne }
}

test('a task of another lane waits for one task of a flooded lane, not for all', async () => {
  const queue = new FairQueue({ slots: 1, perLane: Infinity })
  const [flooded, quiet] = [queue.lane(), queue.lane()]
  const { begun, add, endOne } = tasks()
  for (let n = 0; n < 100; n++) void add(flooded, `flooded ${n}`)
  void add(quiet, 'quiet')
  await endOne()
  await endOne()
  expect(begun.slice(0, 3)).toEqual(['flooded 0', 'flooded 1', 'quiet'])
})

test('a `FairQueue` runs at most `slots` tasks, and `perLane` of one lane', async () => {
  const queue = new FairQueue({ slots: 3, perLane: 2 })
  const [one, other] = [queue.lane(), queue.lane()]
  const { begun, add, endOne } = tasks()
  for (let n = 0; n < 5; n++) void add(one, 'one')
  expect([begun.length, one.busy, one.waiting]).toEqual([2, 2, 3])
  for (let n = 0; n < 5; n++) void add(other, 'other')
  expect(begun).toEqual(['one', 'one', 'other'])
  await endOne()
  expect(begun).toHaveLength(4)
  for (let n = 0; n < 9; n++) await endOne()
  expect(begun).toHaveLength(10)
  expect([one.busy, one.waiting, other.busy, other.waiting]).toEqual([0, 0, 0, 0])
})

test('a task that fails releases its slot and leaves other tasks unaffected', async () => {
  const lane = new FairQueue({ slots: 1, perLane: 1 }).lane()
  const failed = lane.run(() => Promise.reject(new Error('this one')))
  const next = lane.run(() => Promise.resolve('the next one'))
  await expect(failed).rejects.toThrow('this one')
  expect(await next).toBe('the next one')
})

test('a lane is limited to `perLaneAmongOthers` while other lanes have recent tasks', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const queue = new FairQueue({ slots: Infinity, perLane: 3, perLaneAmongOthers: 1 })
  const [one, other] = [queue.lane(), queue.lane()]
  const { begun, add, endOne } = tasks()
  for (let n = 0; n < 9; n++) void add(one, 'one')
  expect(begun).toHaveLength(3)
  void add(other, 'other')
  expect(begun).toHaveLength(4)
  for (let n = 0; n < 3; n++) await endOne()
  expect([one.busy, other.busy, begun.length]).toEqual([1, 1, 5])
  await endOne()
  expect([one.busy, other.busy]).toEqual([1, 0])
  vi.advanceTimersByTime(1000)
  await endOne()
  expect([one.busy, other.busy, begun.length]).toEqual([3, 0, 8])
  vi.useRealTimers()
})

test('a task longer than `roomAfterMs` makes room for one more task', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const lane = new FairQueue({ slots: 1, perLane: 1, roomAfterMs: 100 }).lane()
  const { begun, add, endOne } = tasks()
  for (const name of ['long', 'second', 'third']) void add(lane, name)
  vi.advanceTimersByTime(99)
  expect(begun).toEqual(['long'])
  vi.advanceTimersByTime(1)
  expect([begun, lane.busy]).toEqual([['long', 'second'], 1])
  await endOne()
  expect([begun, lane.busy]).toEqual([['long', 'second'], 1])
  await endOne()
  expect([begun, lane.busy]).toEqual([['long', 'second', 'third'], 1])
  await endOne()
  vi.advanceTimersByTime(100)
  expect(lane.busy).toBe(0)
  vi.useRealTimers()
})
