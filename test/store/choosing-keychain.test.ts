import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseProtection, openExisting, prepare } from '../../src/store/choose.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createProtection, entryOf } from '../../src/store/protection.ts'
import { useKeychainDouble } from './keychain-double.ts'
import { addKey, execute, madeFolder, newStore, open, temporary } from './support.ts'

const keychain = useKeychainDouble()
const passphrase = 'words'
const HOW = { howToMakePassphrase: 'make one so' }

const isRequired = true
test.each([
  ['none with the setting `none`', { passphrase, protection: 'none', isRequired }, 'none'],
  [
    'the passphrase with the setting `passphrase`',
    { passphrase, protection: 'passphrase' },
    'passphrase',
  ],
  [
    'the keychain with the setting `keychain`',
    { passphrase: null, protection: 'keychain' },
    'keychain',
  ],
  [
    'the keychain with that setting and a passphrase',
    { passphrase, protection: 'keychain' },
    'keychain',
  ],
  ['the passphrase with `auto` and both', { passphrase, isRequired }, 'passphrase'],
  ['the keychain with `auto` and no passphrase', { passphrase: null, isRequired }, 'keychain'],
] as const)('the protection of a new store is %s', async (_what, request, method) => {
  const words = method === 'passphrase' ? { passphrase } : {}
  expect(await chooseProtection(request)).toEqual({ method, ...words })
  expect(keychain.entries.size).toBe(0)
})

test('a new store has no protection where none is required', async () => {
  keychain.fails = new Error('asked for nothing')
  expect(await chooseProtection({ passphrase: null })).toBeNull()
  expect(await chooseProtection({ passphrase: null, protection: 'auto' })).toBeNull()
  expect(await chooseProtection({ passphrase: null, protection: 'passphrase' })).toBeNull()
})

test('a new store with `key.protection: passphrase` and no passphrase is refused with a hint', async () => {
  const request = { passphrase: null, protection: 'passphrase', ...HOW } as const
  const choosing = chooseProtection({ ...request, isRequired })
  await expect(choosing).rejects.toMatchObject({ code: 'settings', hint: 'make one so' })
  await expect(choosing).rejects.not.toThrow('keychain')
})

test('a new store is refused where the keychain is locked, with `keychain` and with `auto`', async () => {
  keychain.fails = new Error('is locked')
  const named = chooseProtection({ passphrase: null, protection: 'keychain', ...HOW })
  await expect(named).rejects.toMatchObject({ code: 'store-locked' })
  const auto = chooseProtection({ passphrase: null, isRequired: true, ...HOW })
  await expect(auto).rejects.toMatchObject({
    code: 'settings',
    message: expect.stringContaining('the OS keychain is locked'),
    hint: 'make one so',
  })
})

test('a protection under the keychain has one keychain entry until `discard`', async () => {
  const prepared = await prepare({ method: 'keychain' })
  const { row, held } = prepared
  expect([...keychain.entries.keys()]).toEqual([`postern ${entryOf(row)}`])
  expect(held.entry).toBe(entryOf(row))
  const opened = await openExisting(row, { passphrase: null })
  expect(opened.masterSecret).toBe(held.masterSecret)
  await prepared.discard()
  expect(keychain.entries.size).toBe(0)
})

test('`discard` of a protection ignores a failing keychain', async () => {
  const prepared = await prepare({ method: 'keychain' })
  keychain.fails = new Error('gone')
  await expect(prepared.discard()).resolves.toBeUndefined()
})

test.each([{ method: 'none' }, { method: 'passphrase', passphrase }] as const)(
  'a protection under $method does not use the keychain',
  async (wanted) => {
    keychain.fails = new Error('asked for nothing')
    const prepared = await prepare(wanted)
    await prepared.discard()
    const opened = await openExisting(prepared.row, { passphrase })
    expect([opened.method, opened.entry]).toEqual([wanted.method, null])
  },
)

test('a store without its passphrase or its keychain entry is refused as `store-locked`', async () => {
  const { row } = await createProtection({ method: 'passphrase', passphrase })
  await expect(openExisting(row, { passphrase: null })).rejects.toMatchObject({
    code: 'store-locked',
    message: expect.stringContaining('none was given'),
  })
  const lost = await createProtection({ method: 'keychain' })
  await expect(openExisting(lost.row, { passphrase })).rejects.toMatchObject({
    code: 'store-locked',
    message: expect.stringContaining(`no entry ${entryOf(lost.row)}`),
  })
})

test('a store opens and moves under the keychain, and old entries stay for old copies', async () => {
  const { dataDir, store } = await newStore({ protection: 'keychain' })
  const secret = await store.secret('replay')
  const [entry = ''] = keychain.entries.keys()
  await store[Symbol.asyncDispose]()
  const again = await open(dataDir, { protection: 'keychain', isBinding: true })
  expect([again.method, await again.secret('replay')]).toEqual(['keychain', secret])
  const moved = await again.move({ method: 'keychain' }, async (locked) => locked)
  expect(`postern ${moved.oldEntry}`).toBe(entry)
  expect(keychain.entries.size).toBe(2)
  const last = await again.move({ method: 'passphrase', passphrase }, async (locked) => locked)
  expect(last).toEqual({ isScrubbed: true, oldEntry: expect.stringMatching(/^store-/) })
  // one that rested under no keychain leaves no entry behind
  const none = await again.move({ method: 'keychain' }, async (locked) => locked)
  expect(none.oldEntry).toBeNull()
  expect(await again.secret('replay')).toEqual(secret)
})

test('a protected store opens although the keychain is locked', async () => {
  const { dataDir, store: first } = await newStore({ protection: 'none' })
  await first[Symbol.asyncDispose]()
  keychain.fails = new Error('is locked')
  expect((await open(dataDir, { isRequired: true })).method).toBe('none')
})

test('a keychain entry is removed where its protection could not be written', async () => {
  const dataDir = await madeFolder()
  const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON protection
    BEGIN SELECT RAISE(ABORT, 'refused'); END`
  execute(join(dataDir, 'postern.db'), refuse)
  const opening = openStore({ dataDir, passphrase: null, mode: 'existing', protection: 'keychain' })
  await expect(opening).rejects.toMatchObject({ code: 'store-corrupt' })
  expect(keychain.entries.size).toBe(0)
})

test('a keychain entry is removed where the move to it fails', async () => {
  const store = await open(temporary(), { passphrase })
  await addKey(store, 'a')
  const kept: number[] = []
  const failing = () => {
    kept.push(keychain.entries.size)
    return Promise.reject(new Error('does not open'))
  }
  await expect(store.move({ method: 'keychain' }, failing)).rejects.toThrow('does not open')
  expect([kept, keychain.entries.size, store.method]).toEqual([[1], 0, 'passphrase'])
})
