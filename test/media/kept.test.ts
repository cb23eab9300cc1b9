import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Kept } from '../../src/media/kept.ts'

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

function keptOf(bounds: Partial<ConstructorParameters<typeof Kept>[0]> = {}): Kept<Thing> {
  const kept = new Kept<Thing>({ maxOctets: 100, maxFiles: 3, maxAgeMs: 60_000, ...bounds })
  onTestFinished(() => kept[Symbol.dispose]())
  return kept
}

test('what is kept is given again, and stays open', async () => {
  const kept = keptOf()
  const thing = new Thing(10)
  kept.add('a', thing)
  await turn()
  expect(kept.get('a')?.value).toBe(thing)
  expect(kept.get('b')).toBeNull()
  expect(thing.isClosed).toBe(0)
})

test.each([
  ['by size', { maxOctets: 25 }],
  ['by count', { maxFiles: 2 }],
])('the least recently used goes first, %s', async (_, bounds) => {
  const kept = keptOf(bounds)
  const things = { a: new Thing(10), b: new Thing(10), c: new Thing(10) }
  kept.add('a', things.a)
  kept.add('b', things.b)
  await turn()
  kept.get('a')?.release()
  kept.add('c', things.c)
  await turn()
  const closed = Object.values(things).map(({ isClosed }) => isClosed)
  expect(closed).toEqual([0, 1, 0])
})

test('what somebody reads is closed only when the last is done, and once', async () => {
  const kept = keptOf({ maxFiles: 1 })
  const thing = new Thing(10)
  kept.add('a', thing)
  const [one, other] = [kept.get('a'), kept.get('a')]
  kept.add('b', new Thing(10))
  await turn()
  expect(kept.get('a')).toBeNull()
  one?.release()
  one?.release()
  expect(thing.isClosed).toBe(0)
  other?.release()
  expect(thing.isClosed).toBe(1)
})

test('what is too large to be kept is there for whoever waited for it', async () => {
  const kept = keptOf()
  const thing = new Thing(101)
  const lease = kept.add('a', thing).lease()
  await turn()
  expect(lease?.value).toBe(thing)
  expect(kept.get('a')).toBeNull()
  expect(thing.isClosed).toBe(0)
  lease?.release()
  expect(thing.isClosed).toBe(1)
})

test('nobody gets what is closed already', async () => {
  const kept = keptOf()
  const entry = kept.add('a', new Thing(101))
  await turn()
  expect(entry.lease()).toBeNull()
})

test('what is old is closed by itself', async () => {
  const kept = keptOf({ maxAgeMs: 1 })
  const thing = new Thing(10)
  kept.add('a', thing)
  const end = performance.now() + 20_000
  while (thing.isClosed === 0 && performance.now() < end) await turn()
  expect(thing.isClosed).toBe(1)
  expect(kept.get('a')).toBeNull()
})

test('at the end all of it is closed, but for what is being read', async () => {
  const kept = keptOf()
  const [idle, read] = [new Thing(10), new Thing(10)]
  kept.add('a', idle)
  kept.add('b', read)
  await turn()
  const lease = kept.get('b')
  kept[Symbol.dispose]()
  expect([idle.isClosed, read.isClosed]).toEqual([1, 0])
  lease?.release()
  expect(read.isClosed).toBe(1)
})
