import { expect, test } from 'vitest'
import { RecentMap } from '../../src/util/recent-map.ts'

/** Those of some keys that are there. */
function keysIn(map: RecentMap<number>, keys: string): string {
  return [...keys].filter((key) => map.get(key) !== undefined).join('')
}

function filled(max: number, keys: string): RecentMap<number> {
  const map = new RecentMap<number>(max)
  for (const key of keys) map.set(key, key.charCodeAt(0), 1)
  return map
}

test('what is kept is found, and nothing else', () => {
  const map = filled(4, 'abcd')
  expect(map.get('c')).toBe(99)
  expect(map.get('e')).toBeUndefined()
})

test('where there is no room, what came first goes first', () => {
  expect(keysIn(filled(4, 'abcdef'), 'abcdef')).toBe('cdef')
})

test('what was asked for since stays, and others go', () => {
  const map = filled(4, 'abcde')
  expect(map.get('b')).toBe(98)
  map.set('f', 0, 1)
  map.set('g', 0, 1)
  expect(keysIn(map, 'abcdefg')).toBe('befg')
})

test('however much goes through, what is there is never more than there is room for', () => {
  const map = new RecentMap<number>(10)
  const sizes = new Map<string, number>()
  for (let step = 0; step < 200; step++) {
    const key = `key ${(step * 7) % 23}`
    sizes.set(key, 1 + (step % 4))
    map.set(key, step, 1 + (step % 4))
    expect(map.get(key)).toBe(step)
    if (step % 3 === 0) map.get(`key ${step % 23}`)
    if (step % 20 > 0) continue
    const kept = [...sizes].filter(([name]) => map.get(name) !== undefined)
    expect(kept.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(10)
  }
})

test('what replaces a value counts in its place', () => {
  const map = filled(4, 'abcd')
  map.set('a', 1, 1)
  map.set('b', 2, 1)
  expect(keysIn(map, 'abcd')).toBe('abcd')
})

test('what is larger than all the room is not kept', () => {
  const map = filled(4, 'ab')
  map.set('c', 0, 5)
  expect(map.get('c')).toBeUndefined()
})
