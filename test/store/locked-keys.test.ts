/** What a store's file gives to a thief, and what it takes from somebody who can write to it. */
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { generateKey } from 'openpgp'
import { afterAll, describe, expect, test } from 'vitest'
import { Keyring } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { readProtection } from '../../src/store/inspect.ts'
import { openProtection } from '../../src/store/protection.ts'
import type { Store } from '../../src/store/store.ts'
import { execute, open, temporary } from './support.ts'
import { memoryOf } from '../../src/store/memory.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const passphrase = 'words'
const load = (store: Store) =>
  Keyring.load(memoryOf(store), engine, {
    retainMs: Infinity,
    time: SYSTEM_TIME,
    serviceNowMs: () => null,
  })

/** A store with one key and one sealed secret, closed. */
async function closedStore(): Promise<{ dataDir: string; masterSecret: string }> {
  const dataDir = join(temporary(), 'data')
  const store = await open(dataDir, { passphrase })
  await (await load(store)).makePending('bot')
  await store.secret('replay')
  const { masterSecret } = store
  await store[Symbol.asyncDispose]()
  return { dataDir, masterSecret: masterSecret ?? '' }
}

describe('a thief of the store file', () => {
  test('a key in the store file is locked by the master secret and not by the passphrase', async () => {
    const { dataDir, masterSecret } = await closedStore()
    const database = new DatabaseSync(join(dataDir, 'postern.db'), { readOnly: true })
    const row = readProtection(database)
    if (row === null) throw new Error('no protection')
    const { sealer } = await openProtection(passphrase, row)
    const sealed = database.prepare('SELECT name, sealed FROM secrets').all()
    const keys = database.prepare('SELECT locked FROM own_keys').all()
    database.close()
    expect([sealed.length, keys.length]).toEqual([1, 1])
    for (const { name, sealed: bytes } of sealed) {
      expect(sealer.open(String(name), bytes as Uint8Array)).not.toBeNull()
    }
    for (const { locked } of keys) {
      await expect(engine.unlock(String(locked), passphrase)).rejects.toThrow('wrong-passphrase')
      await engine.unlock(String(locked), masterSecret)
    }
  })
})

describe('a replaced key in the store file', () => {
  const changed = async (locked: (masterSecret: string) => Promise<string>): Promise<unknown> => {
    const { dataDir, masterSecret } = await closedStore()
    execute(
      join(dataDir, 'postern.db'),
      `UPDATE own_keys SET locked = '${await locked(masterSecret)}'`,
    )
    return await load(await open(dataDir, { passphrase }))
  }

  test('a key that is not locked is refused as `store-locked`', async () => {
    const { privateKey } = await generateKey({ userIDs: [{ name: 'bot' }], type: 'curve25519' })
    await expect(changed(async () => privateKey)).rejects.toMatchObject({ code: 'store-locked' })
  })

  test('a key under the certificate of another key is refused as `store-corrupt`', async () => {
    const other = async (masterSecret: string) => {
      const key = { userId: 'bot', createdMs: 1000, passphrase: masterSecret }
      return (await engine.generate(key)).locked
    }
    await expect(changed(other)).rejects.toMatchObject({ code: 'store-corrupt' })
  })
})
