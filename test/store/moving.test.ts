import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Relock } from '../../src/store/move.ts'
import type { Store } from '../../src/store/store.ts'
import { made, open, put, temporary } from './support.ts'

const OLD = 'canary-of-the-old-lock '.repeat(30)

/** Stands in for OpenPGP: what is locked says what it is locked under. */
const relock: Relock = (locked, { from, to }) => {
  if (locked !== lockedUnder(from)) throw new Error('the old secret does not open it')
  return Promise.resolve(lockedUnder(to))
}
const lockedUnder = (secret: string) => (secret === 'old' ? OLD : `locked under ${secret}`)

const addKey = (store: Store, fingerprint: string, under: string) =>
  store.write((db) =>
    db
      .insertInto('own_keys')
      .values({
        fingerprint,
        state: 'retired',
        created_at: 1,
        published_at: null,
        retired_at: null,
        certificate: 'certificate',
        locked: lockedUnder(under),
      })
      .execute(),
  )

const lockedIn = async (store: Store): Promise<string[]> => {
  const rows = await store.read((db) => db.selectFrom('own_keys').select('locked').execute())
  return rows.map(({ locked }) => locked)
}

function bytesOf(dataDir: string): string {
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
  return files.join('')
}

const toPassphrase = (passphrase: string) => ({ method: 'passphrase', passphrase }) as const

describe('moving what is secret to another protection', () => {
  test('keys and sealed secrets move together, and only the new passphrase opens the store', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase: 'old' })
    const secret = await store.secret('replay')
    await addKey(store, 'one', 'old')
    await addKey(store, 'two', 'old')
    await store.move(toPassphrase('new'), relock)
    expect(store.masterSecret).toBe('new')
    expect(await store.secret('replay')).toEqual(secret)
    expect(await lockedIn(store)).toEqual([lockedUnder('new'), lockedUnder('new')])
    await store[Symbol.asyncDispose]()

    await expect(open(dataDir, { passphrase: 'old' })).rejects.toMatchObject({
      code: 'store-passphrase',
    })
    const again = await open(dataDir, { passphrase: 'new' })
    expect(await again.secret('replay')).toEqual(secret)
  })

  test('nothing of the old lock stays in any file, even while the store is open', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase: 'old' })
    await addKey(store, 'one', 'old')
    expect(bytesOf(dataDir)).toContain('canary-of-the-old-lock')
    await store.move(toPassphrase('new'), relock)
    expect(bytesOf(dataDir)).not.toContain('canary-of-the-old-lock')
    expect(bytesOf(dataDir)).toContain('locked under new')
  })

  test('to none and back: the master secret stands in the store meanwhile, and only then', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase: 'old' })
    const secret = await store.secret('replay')
    await addKey(store, 'one', 'old')
    await store.move({ method: 'none' }, relock)
    const bare = store.masterSecret ?? ''
    expect(store.method).toBe('none')
    expect(bytesOf(dataDir)).toContain(Buffer.from(bare, 'base64url').toString('latin1'))
    await store[Symbol.asyncDispose]()

    const again = await open(dataDir)
    expect(again.masterSecret).toBe(bare)
    expect(await again.secret('replay')).toEqual(secret)
    await again.move(toPassphrase('new'), relock)
    expect(bytesOf(dataDir)).not.toContain(Buffer.from(bare, 'base64url').toString('latin1'))
  })

  test('a key that does not open keeps everything as it was', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase: 'old' })
    const secret = await store.secret('replay')
    await addKey(store, 'one', 'old')
    await addKey(store, 'two', 'something else')
    await expect(store.move(toPassphrase('new'), relock)).rejects.toThrow('does not open')
    expect(store.masterSecret).toBe('old')
    expect(await lockedIn(store)).toEqual([OLD, lockedUnder('something else')])
    await store[Symbol.asyncDispose]()
    expect(await (await open(dataDir, { passphrase: 'old' })).secret('replay')).toEqual(secret)
  })

  test('a key that is added while the others are locked anew moves too', async () => {
    const store = await open(temporary(), { passphrase: 'old' })
    await addKey(store, 'one', 'old')
    let isAdded = false
    await store.move(toPassphrase('new'), async (locked, secrets) => {
      if (!isAdded) await addKey(store, 'two', 'old')
      isAdded = true
      return await relock(locked, secrets)
    })
    expect(await lockedIn(store)).toEqual([lockedUnder('new'), lockedUnder('new')])
  })

  test('a key that is removed meanwhile does not come back', async () => {
    const store = await open(temporary(), { passphrase: 'old' })
    await addKey(store, 'one', 'old')
    await store.move(toPassphrase('new'), async (locked, secrets) => {
      await store.write((db) => db.deleteFrom('own_keys').execute())
      return await relock(locked, secrets)
    })
    expect(await lockedIn(store)).toEqual([])
  })

  test('two moves at once follow one another, and secrets made meanwhile open afterwards', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase: 'old' })
    await addKey(store, 'one', 'old')
    const made_ = Promise.all(['a', 'b', 'c'].map((name) => store.secret(name)))
    const moves = [toPassphrase('new'), toPassphrase('newer')].map((to) => store.move(to, relock))
    const later = Promise.all(['d', 'e'].map((name) => store.secret(name)))
    await Promise.all(moves)
    const [a] = await made_
    const [d] = await later
    expect(store.masterSecret).toBe('newer')
    expect(await lockedIn(store)).toEqual([lockedUnder('newer')])
    await put(store, 'others', 'still write')
    await store[Symbol.asyncDispose]()
    const again = await open(dataDir, { passphrase: 'newer' })
    expect(await again.secret('a')).toEqual(a)
    expect(await again.secret('d')).toEqual(d)
  })

  test('a store that has no protection yet takes one', async () => {
    const dataDir = temporary()
    await made(dataDir)
    const store = await open(dataDir)
    await store.move(toPassphrase('new'), relock)
    const secret = await store.secret('replay')
    await store[Symbol.asyncDispose]()
    expect(await (await open(dataDir, { passphrase: 'new' })).secret('replay')).toEqual(secret)
  })
})
