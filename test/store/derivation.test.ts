/** Stores and Node.js with and without Argon2id. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { readBackup } from '../../src/store/backup.ts'
import { readProtection } from '../../src/store/inspect.ts'
import { createProtection, openProtection } from '../../src/store/protection.ts'
import type { Relock } from '../../src/store/store.ts'
import { hasArgon2, sharedStretcher } from '../../src/store/stretcher.ts'
import { backup, madeFolder, open, restoreMocks, temporary } from './support.ts'

restoreMocks()

const passphrase = 'words'
const relock: Relock = (locked) => Promise.resolve(locked)

/** Until the test ends, Argon2id is missing as in a Node.js with an OpenSSL before 3.2. */
function withoutArgon2(): void {
  for (const name of ['argon2', 'argon2Sync'] as const) {
    vi.spyOn(crypto, name).mockImplementation(() => {
      throw Object.assign(new Error('Argon2 algorithm not supported'), {
        code: 'ERR_CRYPTO_ARGON2_NOT_SUPPORTED',
      })
    })
  }
  syncBuiltinESMExports()
}

function withArgon2(): void {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
}

/** The derivation of a store that nobody has open. */
function derivationIn(file: string): string | undefined {
  using database = new DatabaseSync(file, { readOnly: true })
  return readProtection(database)?.derivation
}

const REFUSED = {
  code: 'store-derivation',
  exitCode: 3,
  message: expect.stringContaining('Argon2id, which this Node.js cannot compute'),
  hint: expect.stringContaining('OpenSSL 3.2'),
}

test('a new store uses Argon2id where Node.js has it, and scrypt otherwise', async () => {
  expect(hasArgon2()).toBe(true)
  const derivations: unknown[] = []
  for (const prepare of [withArgon2, withoutArgon2]) {
    prepare()
    const dataDir = await madeFolder(passphrase)
    derivations.push(derivationIn(join(dataDir, 'postern.db')))
    await open(dataDir, { passphrase, mode: 'existing' })
  }
  expect(derivations).toEqual(['argon2id', 'scrypt'])
})

test('a store by Argon2id is refused as `store-derivation` without Argon2id, for any passphrase', async () => {
  const dataDir = await madeFolder(passphrase)
  const { row } = await createProtection({ method: 'passphrase', passphrase })
  withoutArgon2()
  expect(hasArgon2()).toBe(false)
  const shared = sharedStretcher(temporary())
  for (const tried of [passphrase, 'another']) {
    await expect(open(dataDir, { passphrase: tried })).rejects.toMatchObject(REFUSED)
    await expect(openProtection(tried, row, shared)).rejects.toMatchObject(REFUSED)
  }
  await expect(open(dataDir)).rejects.toMatchObject({ code: 'store-locked' })
  withArgon2()
  await expect(openProtection('another', row, shared)).rejects.toMatchObject({
    code: 'store-passphrase',
  })
  expect(await openProtection(passphrase, row, shared)).toMatchObject({ method: 'passphrase' })
})

test('a backup by Argon2id is refused as `store-derivation` without Argon2id, and opens with it later', async () => {
  const store = await open(temporary(), { passphrase })
  const copy = await backup(store)
  withoutArgon2()
  await expect(readBackup(copy, { passphrase })).rejects.toMatchObject(REFUSED)
  withArgon2()
  expect(await readBackup(copy, { passphrase })).toMatchObject({ method: 'passphrase' })
})

test('a store without a passphrase needs no Argon2id', async () => {
  withoutArgon2()
  const dataDir = temporary()
  for (let n = 0; n < 2; n++) {
    const store = await open(dataDir, { protection: 'none' })
    expect(store.method).toBe('none')
    await store[Symbol.asyncDispose]()
  }
})

test('a store by scrypt keeps it until its passphrase is set again', async () => {
  withoutArgon2()
  const dataDir = await madeFolder(passphrase)
  withArgon2()
  const store = await open(dataDir, { passphrase, mode: 'existing' })
  const derivations = () =>
    store.read((db) => db.selectFrom('protection').select('derivation').execute())
  expect(await derivations()).toEqual([{ derivation: 'scrypt' }])
  const secret = await store.secret('replay')
  await store.move({ method: 'passphrase', passphrase }, relock)
  expect(await derivations()).toEqual([{ derivation: 'argon2id' }])
  await store[Symbol.asyncDispose]()
  const again = await open(dataDir, { passphrase, mode: 'existing' })
  expect(await again.secret('replay')).toEqual(secret)
})
