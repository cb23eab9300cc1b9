import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadKeyUsage } from '../../src/store/key-usage.ts'
import type { Store } from '../../src/store/store.ts'
import { addKey, testOfFile, open, temporary } from './support.ts'

beforeEach(
  () => void vi.useFakeTimers({ now: 1_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }),
)
afterEach(() => void vi.useRealTimers())

async function withKeys(...fingerprints: string[]): Promise<Store> {
  const store = await open(temporary())
  for (const fingerprint of fingerprints) await addKey(store, fingerprint)
  return store
}

/** A key has opened a message, five seconds ago. */
async function fiveSecondsAfterOpening() {
  const store = await withKeys('a')
  const write = vi.spyOn(store, 'write')
  const usage = await loadKeyUsage(store)
  usage.note('a', 'message')
  vi.advanceTimersByTime(5000)
  return { usage, write }
}

const NONE = { messages: 0, media: 0, lastAtMs: null }

test('key usage is counted by kind at once, and added to the stored counts after a restart', async () => {
  const store = await withKeys('a', 'b')
  const usage = await loadKeyUsage(store)
  expect([usage.of('a'), usage.of('unknown')]).toEqual([NONE, NONE])
  usage.note('a', 'message')
  usage.note('a', 'media')
  vi.setSystemTime(1_000_005)
  usage.note('a', 'message')
  const counted = { messages: 2, media: 1, lastAtMs: 1_000_005 }
  expect([usage.of('a'), usage.of('b')]).toEqual([counted, NONE])
  expect((await loadKeyUsage(store)).of('a')).toEqual(NONE)
  await usage[Symbol.asyncDispose]()
  const again = await loadKeyUsage(store)
  expect([again.of('a'), again.of('b')]).toEqual([counted, NONE])
  again.note('a', 'media')
  await again.flush()
  expect((await loadKeyUsage(store)).of('a')).toEqual({ ...counted, media: 2 })
})

testOfFile('key usage is written once, ten seconds after the first use', async () => {
  const { usage, write } = await fiveSecondsAfterOpening()
  usage.note('a', 'message')
  vi.advanceTimersByTime(4999)
  expect(write).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(write).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
  // nothing new, nothing written
  await usage.flush()
  expect(write).toHaveBeenCalledTimes(1)
})

test('key usage after a write is written ten seconds later', async () => {
  const { usage, write } = await fiveSecondsAfterOpening()
  await usage.flush()
  usage.note('a', 'message')
  vi.advanceTimersByTime(9999)
  expect(write).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(write).toHaveBeenCalledTimes(2)
})

test('key usage that could not be written is added to the next write once', async () => {
  const store = await withKeys('a', 'b')
  const usage = await loadKeyUsage(store)
  usage.note('a', 'message')
  usage.note('b', 'media')
  const failing = vi.spyOn(store, 'write').mockImplementation(async () => {
    vi.setSystemTime(1_000_009)
    usage.note('a', 'message')
    throw new Error('full')
  })
  await usage.flush()
  failing.mockRestore()
  await usage.flush()
  await usage.flush()
  const read = await loadKeyUsage(store)
  expect(read.of('a')).toEqual({ messages: 2, media: 0, lastAtMs: 1_000_009 })
  expect(read.of('b')).toEqual({ messages: 0, media: 1, lastAtMs: 1_000_000 })
})
