import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import {
  child,
  connected,
  flags,
  madeFolder,
  newStore,
  open,
  put,
  restoreMocks,
  temporary,
} from './support.ts'

restoreMocks()

const real = fs.open

/** The names that the tests give flags, as a backup has them. */
const namesIn = (file: string): unknown[] =>
  connected(file, (path) => new DatabaseSync(path, { readOnly: true }))
    .prepare("SELECT name FROM flags WHERE name LIKE 'n%' ORDER BY name")
    .all()
    .map(({ name }) => name)

/**
 * Begins to copy a store. This copy and later ones wait before each write, until `goOn` is called.
 * `begun` is called with each write that is asked for.
 */
async function heldCopy(store: Store) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>()
  const begun = vi.fn()
  vi.spyOn(fs, 'open').mockImplementation(async (path, ...more) => {
    const handle = await real(path, ...more)
    if (!String(path).includes('postern.backup-')) return handle
    const write = handle.write.bind(handle) as (...of: unknown[]) => Promise<unknown>
    handle.write = (async (...of: unknown[]) => {
      begun()
      await promise
      return await write(...of)
    }) as typeof handle.write
    return handle
  })
  syncBuiltinESMExports()
  onTestFinished(() => goOn())
  const copying = store.copy()
  await vi.waitFor(() => expect(begun).toHaveBeenCalled())
  return { copying, begun, goOn }
}

/** Writes more pages than those after which SQLite brings its log into the database by itself. */
async function writeMuch(store: Store): Promise<void> {
  for (let n = 0; n < 6; n++) await put(store, `n-later-${n}`, 'x'.repeat(1_000_000))
}

test('a backup holds the rows from before it began, and writes continue while it is copied', async () => {
  const { dataDir, store } = await newStore()
  await put(store, 'n-before', 'yes')
  const { copying, goOn } = await heldCopy(store)
  const { size } = statSync(join(dataDir, 'postern.db'))
  await writeMuch(store)
  await store.note((db) => db.insertInto('flags').values({ name: 'n-noted', value: '' }).execute())
  expect(Object.keys(await flags(store))).toContain('n-noted')
  expect(statSync(join(dataDir, 'postern.db')).size).toBe(size)
  goOn()
  expect(namesIn(await copying)).toEqual(['n-before'])
  // and then the log goes into the database again
  await put(store, 'n-last', '')
  expect(statSync(join(dataDir, 'postern.db')).size).toBeGreaterThan(size)
})

test('a second backup and a scrub wait for the first backup, and writes do not', async () => {
  const { dataDir, store } = await newStore()
  await put(store, 'n-1', '')
  const { copying: first, begun, goOn } = await heldCopy(store)
  await writeMuch(store)
  const [scrubbing, second] = [store.scrub(), store.copy()]
  await put(store, 'n-2', '')
  expect(begun).toHaveBeenCalledTimes(1)
  expect(statSync(join(dataDir, 'postern.db')).size).toBeLessThan(1_000_000)
  goOn()
  await scrubbing
  expect([namesIn(await first), namesIn(await second).length]).toEqual([['n-1'], 8])
})

test('a store that is closed during a backup closes after the backup', async () => {
  const store = await open(temporary())
  await put(store, 'n-1', '')
  const { copying, goOn } = await heldCopy(store)
  const closing = store[Symbol.asyncDispose]()
  goOn()
  await closing
  expect(namesIn(await copying)).toEqual(['n-1'])
})

test('a failed backup allows log checkpoints and another backup', async () => {
  const { dataDir, store } = await newStore()
  const full = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'open' })
  const spy = vi.spyOn(fs, 'open')
  spy.mockImplementation(async (path, ...more) => {
    if (String(path).includes('postern.backup-')) throw full
    return await real(path, ...more)
  })
  syncBuiltinESMExports()
  await expect(store.copy()).rejects.toMatchObject({ code: 'store-unwritable', cause: full })
  await writeMuch(store)
  expect(statSync(join(dataDir, 'postern.db')).size).toBeGreaterThan(1_000_000)
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  expect(namesIn(await store.copy())).toHaveLength(6)
})

test('a store that was backed up is still locked for other processes', async () => {
  const dataDir = await madeFolder()
  const store = await open(dataDir)
  await store.copy()
  const { line } = child(
    dataDir,
    `await openStore({ dataDir, passphrase: null, mode: 'existing' }).then(
       () => console.log('opened'),
       (error) => console.log(error.code))`,
  )
  expect(await line()).toBe('store-in-use')
})
