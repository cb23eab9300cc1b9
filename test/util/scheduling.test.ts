import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batchPerTick, inSlices, Mutex } from '../../src/util/scheduling.ts'

test('a task begins when every earlier one has ended', async () => {
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

test('a task that fails rejects for its caller alone, and the next one runs', async () => {
  const mutex = new Mutex()
  const failed = mutex.run(() => Promise.reject(new Error('no')))
  const next = mutex.run(() => Promise.resolve('done'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('a task that throws before it returns a promise stops no other', async () => {
  const mutex = new Mutex()
  const failed = mutex.run<void>(() => {
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(await mutex.run(() => Promise.resolve('done'))).toBe('done')
})

test('items are handled in their order once the turn is over, and again in the next turn', async () => {
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

test('items come in their order, and long work on them lets others run in between', async () => {
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
