import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { LeftUpdate } from '../../src/translate/deferral.ts'

useFakeTime({ toFake: ['performance'] })

const at = (updateId: number) => ({ updateId, chatId: 50, why: 'failed' as const })

test('the first poll that an update is left with is told from the others, and its coming says how long it waited', () => {
  const left = new LeftUpdate()
  expect(left.record([1, 2], at(3))).toEqual([{ kind: 'left', isFirst: true, ...at(3) }])
  vi.advanceTimersByTime(60_000)
  expect(left.record([], at(3))).toEqual([{ kind: 'left', isFirst: false, ...at(3) }])
  vi.advanceTimersByTime(30_000)
  expect(left.record([3, 4], null)).toEqual([{ kind: 'came', waitedMs: 90_000, ...at(3) }])
  expect(left.record([3, 4], null)).toEqual([])
})

test('one comes while another is left', () => {
  const left = new LeftUpdate()
  left.record([], at(3))
  const kinds = left.record([3, 4], at(5)).map(({ kind, updateId }) => [kind, updateId])
  expect(kinds).toEqual([
    ['came', 3],
    ['left', 5],
  ])
})

test('an update that went elsewhere leaves the place to the next', () => {
  const left = new LeftUpdate()
  left.record([], at(3))
  expect(left.record([], null)).toEqual([])
  expect(left.record([], at(7))).toMatchObject([{ isFirst: true, updateId: 7 }])
})
