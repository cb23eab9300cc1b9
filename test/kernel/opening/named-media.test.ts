import type { MediaPlace } from '../../../src/kernel/index.ts'
import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NamedMedia } from '../../../src/kernel/opening/named-media.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

useFakeTime({ toFake: ['Date'] })

const place = (mediaId: string, chatId = 1, userId: number | null = 2): MediaPlace => ({
  mediaId,
  chatId,
  userId,
})

async function memory(kept?: number, dataDir = temporary()): Promise<NamedMedia> {
  return new NamedMedia(memoryOf(await open(dataDir)), Buffer.alloc(32, 1), kept)
}

test('the place of a media id is the first one that named it', async () => {
  const named = await memory()
  await named.name([place('a', 5, 6), place('b', 5, null)])
  vi.setSystemTime(Date.now() + 2)
  await named.name([place('a', 7, 8)])
  expect(await named.placeOf('a')).toEqual(place('a', 5, 6))
  expect(await named.placeOf('b')).toEqual(place('b', 5, null))
  expect(await named.placeOf('c')).toBeNull()
})

test('large and negative identifiers in a place are stored exactly', async () => {
  const named = await memory()
  const odd = place('a.b-c_d~e', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  await named.name([odd])
  expect(await named.placeOf('a.b-c_d~e')).toEqual(odd)
})

test('the newest media ids are remembered up to the bound', async () => {
  const named = await memory(1000)
  for (let batch = 0; batch < 8; batch++) {
    await named.name(Array.from({ length: 500 }, (_, n) => place(`${batch}-${n}`)))
    vi.setSystemTime(Date.now() + 2)
  }
  expect(await named.placeOf('0-0')).toBeNull()
  expect(await named.placeOf('7-499')).not.toBeNull()
})

test('a media id that was opened is recognised by its data and its place', async () => {
  const named = await memory()
  expect(await named.openedBefore(place('a'), 'data')).toBe('none')
  await named.name([place('a')])
  expect(await named.openedBefore(place('a'), 'data')).toBe('none')
  await named.opened(place('a'), 'data')
  expect(await named.openedBefore(place('a'), 'data')).toBe('same')
  expect(await named.openedBefore(place('a'), 'other data')).toBe('other')
  expect(await named.openedBefore(place('a', 9), 'data')).toBe('other')
  expect(await named.openedBefore(place('a', 1, null), 'data')).toBe('other')
  expect(await named.openedBefore(place('b'), 'data')).toBe('none')
  await named.opened(place('b'), 'data', 'unsigned')
  expect(await named.openedBefore(place('b'), 'data')).toBe('unsigned')
  expect(await named.openedBefore(place('b'), 'other data')).toBe('other')
  expect(await named.opened(place('b'), 'data')).toBe(true)
})

test('an opened media id is recognised after it is named again, and after a restart', async () => {
  const dataDir = temporary()
  const store = await open(dataDir)
  const first = new NamedMedia(memoryOf(store), Buffer.alloc(32, 1))
  await first.opened(place('a'), 'data')
  await first.name([place('a')])
  expect(await first.openedBefore(place('a'), 'data')).toBe('same')
  await store[Symbol.asyncDispose]()
  const second = await memory(undefined, dataDir)
  expect(await second.openedBefore(place('a'), 'data')).toBe('same')
})

test('the stored digest of opened data depends on a secret key', async () => {
  const dataDir = temporary()
  const store = await open(dataDir)
  await new NamedMedia(memoryOf(store), randomBytes(32)).opened(place('a'), 'data')
  const other = new NamedMedia(memoryOf(store), randomBytes(32))
  expect(await other.openedBefore(place('a'), 'data')).toBe('other')
})

test('a media id that is opened twice at once with other data keeps the first data', async () => {
  const named = await memory()
  const opened = [named.opened(place('a', 1), 'data'), named.opened(place('a', 1), 'other data')]
  expect(await Promise.all(opened)).toEqual([true, false])
  expect(await named.opened(place('a', 2), 'data')).toBe(false)
  expect(await named.opened(place('a', 1), 'data')).toBe(true)
  expect(await named.openedBefore(place('a', 1), 'data')).toBe('same')
  expect(await named.openedBefore(place('a', 1), 'other data')).toBe('other')
})
