import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { LeftUpdate } from '../../src/translate/deferral.ts'

useFakeTime({ toFake: ['performance'] })

const at = (updateId: number) => ({ updateId, chatId: 50, why: 'failed' as const })

test('`LeftUpdate` marks the first poll that leaves an update, and reports its waiting time when delivered', () => {
  const left = new LeftUpdate()
  expect(left.record([1, 2], at(3))).toEqual([{ kind: 'left', isFirst: true, ...at(3) }])
  vi.advanceTimersByTime(60_000)
  expect(left.record([], at(3))).toEqual([{ kind: 'left', isFirst: false, ...at(3) }])
  vi.advanceTimersByTime(30_000)
  expect(left.record([3, 4], null)).toEqual([{ kind: 'came', waitedMs: 90_000, ...at(3) }])
  expect(left.record([3, 4], null)).toEqual([])
})

test('`LeftUpdate` reports one update as delivered and another as left in the same poll', () => {
  const left = new LeftUpdate()
  left.record([], at(3))
  const kinds = left.record([3, 4], at(5)).map(({ kind, updateId }) => [kind, updateId])
  expect(kinds).toEqual([
    ['came', 3],
    ['left', 5],
  ])
})

test('`LeftUpdate` forgets an update that another sidecar delivered', () => {
  const left = new LeftUpdate()
  left.record([], at(3))
  expect(left.record([], null)).toEqual([])
  expect(left.record([], at(7))).toMatchObject([{ isFirst: true, updateId: 7 }])
})
