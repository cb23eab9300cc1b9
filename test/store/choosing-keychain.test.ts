import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseProtection, openExisting, prepare } from '../../src/store/choose.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createProtection, entryOf } from '../../src/store/protection.ts'
import { useKeychainDouble } from './keychain-double.ts'
import { addKey, execute, open, temporary, madeFolder } from './support.ts'

const keychain = useKeychainDouble()
const passphrase = 'words'
const HOW = { howToMakePassphrase: 'make one so' }

describe('what a new store is to rest under', () => {
  const isRequired = true
  test.each([
    ['none, where the setting names it', { passphrase, protection: 'none', isRequired }, 'none'],
    ['a passphrase, named', { passphrase, protection: 'passphrase' }, 'passphrase'],
    ['the keychain, named', { passphrase: null, protection: 'keychain' }, 'keychain'],
    ['the keychain, named beside one', { passphrase, protection: 'keychain' }, 'keychain'],
    ['the passphrase by itself', { passphrase, isRequired }, 'passphrase'],
    ['then the keychain', { passphrase: null, isRequired }, 'keychain'],
  ] as const)('is %s', async (_what, request, method) => {
    const words = method === 'passphrase' ? { passphrase } : {}
    expect(await chooseProtection(request)).toEqual({ method, ...words })
    expect(keychain.entries.size).toBe(0)
  })

  test('is nothing where nothing is required', async () => {
    keychain.fails = new Error('asked for nothing')
    expect(await chooseProtection({ passphrase: null })).toBeNull()
    expect(await chooseProtection({ passphrase: null, protection: 'auto' })).toBeNull()
    expect(await chooseProtection({ passphrase: null, protection: 'passphrase' })).toBeNull()
  })

  test('is refused where a passphrase is named and missing, with how to make one', async () => {
    const request = { passphrase: null, protection: 'passphrase', ...HOW } as const
    const choosing = chooseProtection({ ...request, isRequired })
    await expect(choosing).rejects.toMatchObject({ code: 'settings', hint: 'make one so' })
    await expect(choosing).rejects.not.toThrow('keychain')
  })

  test('is refused where the keychain does not work: by its own name, or with both', async () => {
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
})

describe('a protection that is made', () => {
  test('under the keychain has what opens it there, until it is discarded', async () => {
    const prepared = await prepare({ method: 'keychain' })
    const { row, held } = prepared
    expect([...keychain.entries.keys()]).toEqual([`postern ${entryOf(row)}`])
    expect(held.entry).toBe(entryOf(row))
    const opened = await openExisting(row, { passphrase: null })
    expect(opened.masterSecret).toBe(held.masterSecret)
    await prepared.discard()
    expect(keychain.entries.size).toBe(0)
  })

  test('is discarded without an error where the keychain fails', async () => {
    const prepared = await prepare({ method: 'keychain' })
    keychain.fails = new Error('gone')
    await expect(prepared.discard()).resolves.toBeUndefined()
  })

  test.each([{ method: 'none' }, { method: 'passphrase', passphrase }] as const)(
    'under $method leaves nothing outside the store',
    async (wanted) => {
      keychain.fails = new Error('asked for nothing')
      const prepared = await prepare(wanted)
      await prepared.discard()
      const opened = await openExisting(prepared.row, { passphrase })
      expect([opened.method, opened.entry]).toEqual([wanted.method, null])
    },
  )
})

describe('what a store rests under', () => {
  test('is opened by what it needs, and refused where that is missing', async () => {
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

  test.each([
    ['passphrase', 'keychain', 'protection'],
    ['none', 'auto', 'protection'],
    ['passphrase', 'auto', null],
    ['keychain', 'auto', null],
    ['none', 'none', null],
  ] as const)(
    'is %s, and may run under the setting %s: refused as %s',
    async (is, setting, code) => {
      const wanted = is === 'passphrase' ? { method: is, passphrase } : { method: is }
      const { row } = await prepare(wanted)
      const request = { passphrase, protection: setting }
      const binding = openExisting(row, { ...request, isBinding: true })
      if (code === null) expect((await binding).method).toBe(is)
      else await expect(binding).rejects.toMatchObject({ code })
      // where the setting does not bind, whatever is there is opened
      expect((await openExisting(row, request)).method).toBe(is)
    },
  )
})

test('a store opens and moves under the keychain, which keeps what copies of it need', async () => {
  const dataDir = temporary()
  const store = await open(dataDir, { protection: 'keychain' })
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

test('a store that has a protection opens where no new one would be possible', async () => {
  const dataDir = temporary()
  const first = await open(dataDir, { protection: 'none' })
  await first[Symbol.asyncDispose]()
  keychain.fails = new Error('is locked')
  expect((await open(dataDir, { isRequired: true })).method).toBe('none')
})

test('an entry for a protection that could not be written is taken back', async () => {
  const dataDir = await madeFolder()
  const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON protection
    BEGIN SELECT RAISE(ABORT, 'refused'); END`
  execute(join(dataDir, 'postern.db'), refuse)
  const opening = openStore({ dataDir, passphrase: null, mode: 'existing', protection: 'keychain' })
  await expect(opening).rejects.toMatchObject({ code: 'store-corrupt' })
  expect(keychain.entries.size).toBe(0)
})

test('an entry for a move that fails is taken back', async () => {
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
