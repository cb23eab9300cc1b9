import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBackup, restore } from '../../src/store/backup.ts'
import { restoredFrom } from '../../src/store/flags.ts'
import {
  backup,
  canMount,
  digests,
  fill,
  flags,
  made,
  modeOf,
  mounted,
  newStore,
  open,
  put,
  temporary,
} from './support.ts'

const passphrase = 'a passphrase'
const request = { passphrase }

test('a backup is one file of mode 0600 under the same protection, with every secret and row', async () => {
  const { dataDir, store } = await newStore({ passphrase })
  const secret = await store.secret('replay')
  await put(store, 'kept', 'yes')
  const file = await store.copy()
  expect(modeOf(file)).toBe('600')
  expect(readFileSync(file).includes(secret)).toBe(false)
  expect(readdirSync(dataDir).filter((name) => name.startsWith('postern.backup-')).length).toBe(1)
  const { takenAt, ...read } = await readBackup(file, request)
  const { masterSecret } = store
  const counts = { flags: 2, secrets: 1, own_keys: 0 }
  expect(read).toMatchObject({ method: 'passphrase', masterSecret, counts })
  expect(Math.abs(Date.parse(takenAt ?? '') - Date.now())).toBeLessThan(60_000)
})

test('a backup that is read stays unchanged, and no file is made beside it', async () => {
  const dataDir = temporary()
  const file = await backup(await open(dataDir, { passphrase }), join(temporary(), 'b'))
  const folder = join(file, '..')
  chmodSync(file, 0o400)
  const before = digests(folder)
  await readBackup(file, request)
  await expect(readBackup(file, { passphrase: 'another' })).rejects.toMatchObject({
    code: 'store-passphrase',
  })
  await expect(readBackup(file, { passphrase: null })).rejects.toMatchObject({
    code: 'store-locked',
  })
  expect(digests(folder)).toEqual(before)
})

test.skipIf(!canMount())('a backup on a full disk is refused and leaves no file', async () => {
  const mount = mounted('2m')
  const dataDir = join(mount, 'data')
  const store = await open(dataDir)
  await put(store, 'much', 'x'.repeat(900_000))
  fill(mount)
  await expect(store.copy()).rejects.toMatchObject({ code: 'store-unwritable' })
  expect(readdirSync(dataDir).filter((name) => name.includes('backup'))).toEqual([])
  rmSync(join(mount, 'filler'))
  expect((await flags(store))['much']).toHaveLength(900_000)
})

test('a restored store opens with all its rows and secrets, and has the date of its first backup', async () => {
  const store = await open(temporary(), { passphrase })
  const secret = await store.secret('replay')
  await put(store, 'kept', 'yes')
  const file = await backup(store)
  const dataDir = join(temporary(), 'new')
  restore(file, dataDir)
  expect(readdirSync(dataDir)).toEqual(['postern.db'])
  expect([modeOf(dataDir), modeOf(join(dataDir, 'postern.db'))]).toEqual(['700', '600'])
  const again = await open(dataDir, { passphrase, mode: 'existing' })
  expect(await again.secret('replay')).toEqual(secret)
  expect(await flags(again)).toMatchObject({ kept: 'yes' })
  const first = await restoredFrom(again)
  expect(first).toBe((await readBackup(file, request)).takenAt)
  expect(await restoredFrom(store)).toBeNull()
  // a backup of a restored store counts from the first backup
  const newer = join(temporary(), 'newer')
  restore(await backup(again), newer)
  expect(await restoredFrom(await open(newer, { passphrase }))).toBe(first)
})

test.each<[what: string, occupy: (dataDir: string) => Promise<void> | void]>([
  ['a store', (dataDir: string) => made(dataDir)],
  ['the marker of a store', (dataDir: string) => writeFileSync(join(dataDir, 'store.json'), '')],
  ['the log of a store', (dataDir: string) => writeFileSync(join(dataDir, 'postern.db-wal'), '')],
])('a restore over %s is refused', async (_what, occupy) => {
  const file = await backup(await open(temporary()))
  const dataDir = temporary()
  await occupy(dataDir)
  const before = digests(dataDir)
  expect(() => restore(file, dataDir)).toThrow('nothing is restored over it')
  expect(digests(dataDir)).toEqual(before)
})

test.skipIf(!canMount())('a restore on a full disk leaves no file', async () => {
  const store = await open(temporary())
  await put(store, 'much', 'x'.repeat(900_000))
  const file = await backup(store)
  const dataDir = join(mounted('512k'), 'data')
  expect(() => restore(file, dataDir)).toThrow('cannot be written')
  expect(readdirSync(dataDir)).toEqual([])
})
