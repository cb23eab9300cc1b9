import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { BEFORE, writeStoreOfBefore } from './store-of-before.ts'
import { open, temporary } from './support.ts'

const LATER = 'locked under a master secret'

const keysOf = (store: Store) =>
  store.read((db) => db.selectFrom('own_keys').select(['fingerprint', 'locked']).execute())

async function storeOfBefore(): Promise<Store> {
  const dataDir = join(temporary(), 'data')
  writeStoreOfBefore(dataDir)
  return await open(dataDir, { passphrase: BEFORE.passphrase, mode: 'existing' })
}

test('a store of before comes under a master secret, once, and is scrubbed', async () => {
  const store = await storeOfBefore()
  const scrub = vi.spyOn(store, 'scrub')
  expect([store.method, store.masterSecret]).toEqual(['passphrase', BEFORE.passphrase])
  const relock = vi.fn(async () => LATER)
  expect(await store.upgrade(relock)).toBe(true)
  expect(store.method).toBe('passphrase')
  expect(store.masterSecret).not.toBe(BEFORE.passphrase)
  const secrets = { from: BEFORE.passphrase, to: store.masterSecret }
  expect(relock.mock.calls).toEqual(
    relock.mock.calls.map(() => [expect.stringContaining('PRIVATE KEY'), secrets]),
  )
  const locked = (await keysOf(store)).map((key) => key.locked)
  expect(locked).toEqual([LATER, LATER, LATER])
  expect((await store.secret('replay')).toString('hex')).toBe(BEFORE.replay)
  expect(scrub).toHaveBeenCalledTimes(1)
  expect(await store.upgrade(relock)).toBe(false)
  expect([relock.mock.calls.length, scrub.mock.calls.length]).toEqual([3, 1])
})

test('a store of before stays as it was when a key cannot be locked anew', async () => {
  const store = await storeOfBefore()
  const before = await keysOf(store)
  const mistake = new Error('a mistake')
  await expect(store.upgrade(() => Promise.reject(mistake))).rejects.toBe(mistake)
  expect(store.masterSecret).toBe(BEFORE.passphrase)
  expect(await keysOf(store)).toEqual(before)
})

test('a store without a protection has nothing to upgrade', async () => {
  const store = await open(temporary())
  const scrub = vi.spyOn(store, 'scrub')
  expect(await store.upgrade(async () => LATER)).toBe(false)
  expect(scrub).not.toHaveBeenCalled()
})
