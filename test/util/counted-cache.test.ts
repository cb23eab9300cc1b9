import { expect, test } from 'vitest'
import { countedCache } from '../../src/util/counted-cache.ts'

test('the entry that was used least lately goes first', () => {
  const cache = countedCache<string, number>(2)
  cache.set('a', 1).set('b', 2)
  cache.get('a')
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2])
})

test('an entry counts as long as was said', async () => {
  const cache = countedCache<string, number>(2, { ttlMs: 1 })
  cache.set('a', 1)
  await expect.poll(() => cache.get('a')).toBeUndefined()
})
