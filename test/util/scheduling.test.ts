import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batchPerTick, inSlices, Mutex } from '../../src/util/scheduling.ts'

test('a `Mutex` starts a task after the earlier task has ended', async () => {
  const mutex = new Mutex()
  const steps: string[] = []
  const task = (name: string) => async () => {
    steps.push(`${name} begins`)
    await nextTurn()
    steps.push(`${name} ends`)
    return name
  }
  const results = await Promise.all(['first', 'second'].map((name) => mutex.run(task(name))))
  expect(results).toEqual(['first', 'second'])
  expect(steps).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
})

test('a task of a `Mutex` that rejects leaves the next task unaffected', async () => {
  const mutex = new Mutex()
  const failed = mutex.run(() => Promise.reject(new Error('no')))
  const next = mutex.run(() => Promise.resolve('done'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('`batchPerTick` handles items in order, once a turn', async () => {
  const handled: number[] = []
  const add = batchPerTick((item: number) => handled.push(item))
  for (const item of [1, 2]) add(item)
  await Promise.resolve()
  expect(handled).toEqual([])
  await nextTurn()
  expect(handled).toEqual([1, 2])
  add(3)
  await nextTurn()
  expect(handled).toEqual([1, 2, 3])
})

test('`inSlices` yields items in order, and other work runs between its slices', async () => {
  const given: string[] = []
  const other = nextTurn().then(() => given.push('other'))
  for await (const item of inSlices(['a', 'b', 'c'])) {
    given.push(item)
    const untilMs = performance.now() + 1
    while (performance.now() < untilMs);
  }
  await other
  expect(given.filter((one) => one !== 'other')).toEqual(['a', 'b', 'c'])
  expect(given.indexOf('other')).toBeLessThan(given.indexOf('c'))
})
