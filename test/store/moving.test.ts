import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Relock, Store } from '../../src/store/store.ts'
import { unprotectedSecret } from '../../src/store/protection.ts'
import {
  addKey as addLocked,
  madeFolder,
  newStore,
  open,
  put,
  temporary,
  testOfFile,
} from './support.ts'

/** Stands in for OpenPGP: what is locked says what it is locked under. */
const relock: Relock = (locked, { from, to }) => {
  if (locked !== lockedUnder(from)) throw new Error('the old secret does not open it')
  return Promise.resolve(lockedUnder(to))
}
const lockedUnder = (secret: string) => `locked under ${secret} `.repeat(30)
/** What the keys of an open store are locked under now. */
const lock = ({ masterSecret }: Store) => lockedUnder(masterSecret ?? '')

const addKey = (store: Store, fingerprint: string, under = store.masterSecret ?? '') =>
  addLocked(store, fingerprint, { locked: lockedUnder(under) })

const lockedIn = async (store: Store): Promise<string[]> => {
  const rows = await store.read((db) => db.selectFrom('own_keys').select('locked').execute())
  return rows.map(({ locked }) => locked).toSorted()
}

function bytesOf(dataDir: string): string {
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
  return files.join('')
}

const toPassphrase = (passphrase: string) => ({ method: 'passphrase', passphrase }) as const

test('keys and secrets move together, and only the new passphrase opens the store', async () => {
  const { dataDir, store } = await newStore({ passphrase: 'old' })
  const secret = await store.secret('replay')
  await addKey(store, 'one')
  await addKey(store, 'two')
  await addLocked(store, 'destroyed', { state: 'destroyed', locked: '' })
  const before = store.masterSecret
  const moved = await store.move(toPassphrase('new'), relock)
  expect(moved).toEqual({ isScrubbed: true, oldEntry: null })
  expect([before, 'new']).not.toContain(store.masterSecret)
  expect(await store.secret('replay')).toEqual(secret)
  expect(await lockedIn(store)).toEqual(['', lock(store), lock(store)])
  await store[Symbol.asyncDispose]()

  await expect(open(dataDir, { passphrase: 'old' })).rejects.toMatchObject({
    code: 'store-passphrase',
  })
  const again = await open(dataDir, { passphrase: 'new' })
  expect(await again.secret('replay')).toEqual(secret)
})

testOfFile('locked keys of the old protection are in no file after a move', async () => {
  const { dataDir, store } = await newStore({ passphrase: 'old' })
  await addKey(store, 'one')
  const before = `locked under ${store.masterSecret}`
  expect(bytesOf(dataDir)).toContain(before)
  await store.move(toPassphrase('new'), relock)
  expect(bytesOf(dataDir)).not.toContain(before)
  expect(bytesOf(dataDir)).toContain(`locked under ${store.masterSecret}`)
})

testOfFile(
  'a store under `none` holds its opening secret, and no longer after a move to a passphrase',
  async () => {
    const { dataDir, store } = await newStore({ passphrase: 'old' })
    const secret = await store.secret('replay')
    await addKey(store, 'one')
    await store.move({ method: 'none' }, relock)
    const { masterSecret } = store
    const row = await store.read((db) =>
      db.selectFrom('protection').selectAll().executeTakeFirstOrThrow(),
    )
    const bare = Buffer.from(unprotectedSecret(row), 'base64url').toString('latin1')
    expect(store.method).toBe('none')
    expect(bytesOf(dataDir)).toContain(bare)
    await store[Symbol.asyncDispose]()

    const again = await open(dataDir)
    expect(again.masterSecret).toBe(masterSecret)
    expect(await again.secret('replay')).toEqual(secret)
    await again.move(toPassphrase('new'), relock)
    expect(bytesOf(dataDir)).not.toContain(bare)
  },
)

test('a move with a key that does not open changes nothing', async () => {
  const { dataDir, store } = await newStore({ passphrase: 'old' })
  const secret = await store.secret('replay')
  await addKey(store, 'one')
  await addKey(store, 'two', 'something else')
  const { masterSecret } = store
  await expect(store.move(toPassphrase('new'), relock)).rejects.toThrow('does not open')
  expect(store.masterSecret).toBe(masterSecret)
  const before = [lock(store), lockedUnder('something else')]
  expect(await lockedIn(store)).toEqual(before.toSorted())
  await store[Symbol.asyncDispose]()
  expect(await (await open(dataDir, { passphrase: 'old' })).secret('replay')).toEqual(secret)
})

test('a move with a changed secret is refused as `store-corrupt` and changes nothing', async () => {
  const store = await open(temporary(), { passphrase: 'old' })
  await store.secret('replay')
  await addKey(store, 'one')
  await store.write((db) => db.updateTable('secrets').set({ name: 'other' }).execute())
  const { masterSecret } = store
  await expect(store.move(toPassphrase('new'), relock)).rejects.toMatchObject({
    code: 'store-corrupt',
    message: expect.stringContaining('a sealed secret was changed'),
  })
  expect([store.masterSecret, await lockedIn(store)]).toEqual([masterSecret, [lock(store)]])
})

test('a key that is added during a move is moved too', async () => {
  const store = await open(temporary(), { passphrase: 'old' })
  await addKey(store, 'one')
  let isAdded = false
  await store.move(toPassphrase('new'), async (locked, secrets) => {
    if (!isAdded) await addKey(store, 'two')
    isAdded = true
    return await relock(locked, secrets)
  })
  expect(await lockedIn(store)).toEqual([lock(store), lock(store)])
})

test('a key that is removed during a move stays removed', async () => {
  const store = await open(temporary(), { passphrase: 'old' })
  await addKey(store, 'one')
  await store.move(toPassphrase('new'), async (locked, secrets) => {
    await store.write((db) => db.deleteFrom('own_keys').execute())
    return await relock(locked, secrets)
  })
  expect(await lockedIn(store)).toEqual([])
})

test('two concurrent moves run one after the other, and secrets made meanwhile open afterwards', async () => {
  const { dataDir, store } = await newStore({ passphrase: 'old' })
  await addKey(store, 'one')
  const made_ = Promise.all(['a', 'b', 'c'].map((name) => store.secret(name)))
  const moves = [toPassphrase('new'), toPassphrase('newer')].map((to) => store.move(to, relock))
  const later = Promise.all(['d', 'e'].map((name) => store.secret(name)))
  await Promise.all(moves)
  const [a] = await made_
  const [d] = await later
  expect(await lockedIn(store)).toEqual([lock(store)])
  await put(store, 'others', 'still write')
  await store[Symbol.asyncDispose]()
  const again = await open(dataDir, { passphrase: 'newer' })
  expect(await again.secret('a')).toEqual(a)
  expect(await again.secret('d')).toEqual(d)
})

test('a store without protection moves to a passphrase', async () => {
  const dataDir = await madeFolder()
  const store = await open(dataDir)
  await store.move(toPassphrase('new'), relock)
  const secret = await store.secret('replay')
  await store[Symbol.asyncDispose]()
  expect(await (await open(dataDir, { passphrase: 'new' })).secret('replay')).toEqual(secret)
})
