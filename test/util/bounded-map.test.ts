import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/util/bounded-map.ts'

test('a `BoundedMap` drops the entry that was set longest ago', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  map.set('c', 4)
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([3, undefined, 4])
  expect(map.size).toBe(2)
  map.delete('a')
  expect([map.has('a'), map.has('c')]).toEqual([false, true])
  map.clear()
  expect([map.has('c'), map.size]).toEqual([false, 0])
})

test('an entry of a `BoundedMap` expires after its time to live since it was last set', () => {
  let nowMs = 0
  const map = new BoundedMap<string, number>(2, { ttlMs: 10, nowMs: () => nowMs })
  map.set('a', 1)
  nowMs = 9
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  nowMs = 10
  expect([map.get('a'), map.get('b'), map.size]).toEqual([undefined, 2, 1])
  map.set('a', 3)
  nowMs = 19
  expect([map.get('a'), map.get('b')]).toEqual([3, undefined])
})
