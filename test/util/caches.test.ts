import { expect, test } from 'vitest'
import { countedCache, FreshCache, sizedCache } from '../../src/util/caches.ts'

/** A cache of texts that take as many bytes as characters, and the keys it had to ask for. */
function cache(maxBytes: number): { asked: number[]; texts: FreshCache<string> } {
  const asked: number[] = []
  const texts = new FreshCache({
    max: 100,
    bounds: { maxBytes, bytesOf: (text: string) => text.length },
    fetch: async (key) => {
      asked.push(key)
      return 'x'.repeat(key)
    },
  })
  return { asked, texts }
}

test('a `FreshCache` drops the entry that was requested longest ago when its bytes exceed the limit', async () => {
  const { asked, texts } = cache(100)
  for (const key of [40, 50, 30]) await texts.get(key, 0)
  expect([40, 50, 30].map((key) => texts.peek(key, 0)?.length)).toEqual([undefined, 50, 30])
  await texts.get(40, 0)
  expect(asked).toEqual([40, 50, 30, 40])
})

test('a value larger than the whole `FreshCache` is returned and not stored', async () => {
  const { asked, texts } = cache(100)
  await texts.get(60, 0)
  expect((await texts.get(101, 0)).length).toBe(101)
  expect((await texts.get(101, 0)).length).toBe(101)
  expect(texts.peek(60, 0)?.length).toBe(60)
  expect(asked).toEqual([60, 101, 101])
})

test('a `countedCache` drops the entry that was used least recently', () => {
  const counted = countedCache<string, number>(2)
  counted.set('a', 1).set('b', 2)
  counted.get('a')
  counted.set('c', 3)
  expect([counted.get('a'), counted.get('b'), counted.get('c'), counted.size]).toEqual([
    1,
    undefined,
    3,
    2,
  ])
})

test('an entry of a `countedCache` expires after its time to live', async () => {
  const counted = countedCache<string, number>(2, { ttlMs: 1 })
  counted.set('a', 1)
  await expect.poll(() => counted.get('a')).toBeUndefined()
})

test('a `sizedCache` stays within its size and does not store a larger value', () => {
  const sized = sizedCache<number>(10)
  for (const [n, key] of [...'abc'].entries()) sized.set(key, n, { size: 4 })
  sized.set('large', 3, { size: 11 })
  expect(['a', 'b', 'c', 'large'].map((key) => sized.get(key))).toEqual([
    undefined,
    1,
    2,
    undefined,
  ])
  sized.set('d', 4, { size: 4 })
  expect([...'bcd'].map((key) => sized.get(key))).toEqual([undefined, 2, 4])
})
