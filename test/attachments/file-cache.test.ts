import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { FileCache } from '../../src/attachments/file-cache.ts'

/** A file that only says whether it is closed. */
class Thing {
  isClosed = 0
  readonly file: { restingBytes: number; close: () => Promise<void> }

  constructor(restingBytes: number) {
    this.file = {
      restingBytes,
      close: () => {
        this.isClosed++
        return Promise.resolve()
      },
    }
  }
}

function cacheOf(
  bounds: Partial<ConstructorParameters<typeof FileCache>[0]> = {},
): FileCache<Thing> {
  const cache = new FileCache<Thing>({ maxBytes: 100, maxFiles: 3, maxAgeMs: 60_000, ...bounds })
  onTestFinished(() => cache[Symbol.dispose]())
  return cache
}

test('a `FileCache` returns a cached file and keeps it open', async () => {
  const cache = cacheOf()
  const thing = new Thing(10)
  cache.add('a', thing)
  await turn()
  expect(cache.get('a')?.value).toBe(thing)
  expect(cache.get('b')).toBeNull()
  expect(thing.isClosed).toBe(0)
})

test.each([
  ['by size', { maxBytes: 25 }],
  ['by count', { maxFiles: 2 }],
])('a full `FileCache` closes the least recently used file, %s', async (_, bounds) => {
  const cache = cacheOf(bounds)
  const things = { a: new Thing(10), b: new Thing(10), c: new Thing(10) }
  cache.add('a', things.a)
  cache.add('b', things.b)
  await turn()
  cache.get('a')?.release()
  cache.add('c', things.c)
  await turn()
  const closed = Object.values(things).map(({ isClosed }) => isClosed)
  expect(closed).toEqual([0, 1, 0])
})

test('a `FileCache` closes a file in use once, after its last reader has released it', async () => {
  const cache = cacheOf({ maxFiles: 1 })
  const thing = new Thing(10)
  cache.add('a', thing)
  const [one, other] = [cache.get('a'), cache.get('a')]
  cache.add('b', new Thing(10))
  await turn()
  expect(cache.get('a')).toBeNull()
  one?.release()
  one?.release()
  expect(thing.isClosed).toBe(0)
  other?.release()
  expect(thing.isClosed).toBe(1)
})

test('a file too large for the `FileCache` is open until its reader releases it', async () => {
  const cache = cacheOf()
  const thing = new Thing(101)
  const handle = cache.add('a', thing).acquire()
  await turn()
  expect(handle?.value).toBe(thing)
  expect(cache.get('a')).toBeNull()
  expect(thing.isClosed).toBe(0)
  handle?.release()
  expect(thing.isClosed).toBe(1)
})

test('a closed file of a `FileCache` cannot be acquired', async () => {
  const cache = cacheOf()
  const entry = cache.add('a', new Thing(101))
  await turn()
  expect(entry.acquire()).toBeNull()
})

test('a `FileCache` closes a file after its maximal age', async () => {
  const cache = cacheOf({ maxAgeMs: 1 })
  const thing = new Thing(10)
  cache.add('a', thing)
  const end = performance.now() + 20_000
  while (thing.isClosed === 0 && performance.now() < end) await turn()
  expect(thing.isClosed).toBe(1)
  expect(cache.get('a')).toBeNull()
})

test('a disposed `FileCache` closes all files, those in use when they are released', async () => {
  const cache = cacheOf()
  const [idle, read] = [new Thing(10), new Thing(10)]
  cache.add('a', idle)
  cache.add('b', read)
  await turn()
  const handle = cache.get('b')
  cache[Symbol.dispose]()
  expect([idle.isClosed, read.isClosed]).toEqual([1, 0])
  handle?.release()
  expect(read.isClosed).toBe(1)
})
