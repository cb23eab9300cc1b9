import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batchPerTick } from '../../src/util/batch-per-tick.ts'

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
