import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { canMount, fill, flags, mounted, newStore, note, open, put, zeroPages } from './support.ts'

describe.skipIf(!canMount())('a full disk (skipped where none can be mounted)', () => {
  test.each([
    ['write', put],
    ['note', note],
  ])(
    'a %s on a full disk is refused and reported once, and succeeds once there is room',
    async (_how, keep) => {
      const mount = mounted('2m')
      const dataDir = join(mount, 'data')
      const store = await open(dataDir)
      const reported: boolean[] = []
      store.onWritable((writable) => reported.push(writable))
      await keep(store, 'before', 'the disk was full')
      fill(mount)
      for (const name of ['large', 'larger']) {
        await expect(keep(store, name, 'x'.repeat(500_000))).rejects.toMatchObject({
          code: 'postern_store_unwritable',
          status: 503,
        })
      }
      expect(reported).toEqual([false])
      expect(await flags(store)).toEqual({ before: 'the disk was full' })

      rmSync(join(mount, 'filler'))
      await keep(store, 'after', 'it was emptied')
      expect(reported).toEqual([false, true])
      await store[Symbol.asyncDispose]()
      expect(await flags(await open(dataDir))).toEqual({
        before: 'the disk was full',
        after: 'it was emptied',
      })
    },
  )

  test('a store that is closed on a full disk opens again with all its rows', async () => {
    const mount = mounted('2m')
    const dataDir = join(mount, 'data')
    const store = await open(dataDir)
    for (let n = 0; n < 50; n++) await put(store, `n${n}`, 'y'.repeat(2000))
    fill(mount)
    await store[Symbol.asyncDispose]()
    rmSync(join(mount, 'filler'))
    expect(Object.keys(await flags(await open(dataDir))).length).toBe(50)
  })

  test('a store cannot be created on a full disk, and can be created once there is room', async () => {
    const mount = mounted('2m')
    const dataDir = join(mount, 'data')
    fill(mount)
    await expect(openStore({ dataDir, passphrase: null, mode: 'create' })).rejects.toMatchObject({
      code: 'store-unwritable',
    })
    rmSync(join(mount, 'filler'))
    const store = await open(dataDir)
    await put(store, 'begun', 'late')
    expect(readdirSync(dataDir).toSorted()).toEqual([
      'owner.json',
      'postern.db',
      'postern.db-wal',
      'store.json',
    ])
  })
})

test('a read of a damaged page is refused as `store-corrupt`', async () => {
  const { dataDir, store } = await newStore()
  for (let n = 0; n < 60; n++) await put(store, `n${n}`, 'z'.repeat(100_000))
  zeroPages(join(dataDir, 'postern.db'), 0, 1500)
  await expect(flags(store)).rejects.toMatchObject({ code: 'store-corrupt' })
})
