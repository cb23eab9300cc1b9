import { execFile } from '../support/programs.ts'
import { argon2Sync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createProtection, SecretSealer } from '../../src/store/protection.ts'
import { made, madeFolder, newStore, open, put, temporary } from './support.ts'

const PROTECTION = pathToFileURL('src/store/protection.ts').href
const COST = pathToFileURL('src/store/passphrase-cost.ts').href

describe('secrets at rest', () => {
  test('the master secret is random for each store and stays the same', async () => {
    const [dataDir, other] = [temporary(), temporary()]
    const first = await open(dataDir, { passphrase: 'a passphrase' })
    const { masterSecret } = first
    expect(masterSecret).toMatch(/^[\w-]{43}$/)
    expect((await open(other, { passphrase: 'a passphrase' })).masterSecret).not.toBe(masterSecret)
    await first[Symbol.asyncDispose]()
    expect((await open(dataDir, { passphrase: 'a passphrase' })).masterSecret).toBe(masterSecret)
  })

  test.each(['passphrase', 'none'] as const)(
    'a protection record by %s contains neither the master secret nor its opening secret',
    async (method) => {
      const { row, held, opener } = await createProtection(
        method === 'none' ? { method } : { method, passphrase: 'words' },
      )
      const all = Buffer.concat([row.salt, row.proof, row.master ?? Buffer.alloc(0), row.digest])
      expect(all.includes(Buffer.from(held.masterSecret, 'base64url'))).toBe(false)
      expect(held.masterSecret).not.toBe(opener)
    },
  )

  test('a passphrase is derived by Argon2id at the recorded cost, and a random secret by cheap scrypt', async () => {
    const { row } = await createProtection({ method: 'passphrase', passphrase: 'words' })
    const { derivation, n: memory, r: passes, p: parallelism, salt: nonce } = row
    const parameters = { message: 'words', nonce, memory, passes, parallelism, tagLength: 32 }
    const key = argon2Sync('argon2id', parameters)
    expect(derivation).toBe('argon2id')
    expect(new SecretSealer(key).open('proof', row.proof)).not.toBeNull()
    for (const method of ['keychain', 'none'] as const) {
      const cost = { derivation: 'scrypt', n: 2, r: 8, p: 1 }
      expect((await createProtection({ method })).row).toMatchObject(cost)
    }
  })

  test('a store file contains neither a secret nor the passphrase', async () => {
    const { dataDir, store } = await newStore({ passphrase: 'canary-passphrase' })
    const secret = await store.secret('replay')
    const bytes = ['postern.db', 'postern.db-wal'].map((name) => readFileSync(join(dataDir, name)))
    const all = Buffer.concat(bytes)
    expect(all.includes('replay')).toBe(true)
    expect(all.includes(secret)).toBe(false)
    expect(all.includes('canary-passphrase')).toBe(false)
  })

  test('a deleted value is in no file of a closed store', async () => {
    const { dataDir, store } = await newStore()
    const removed = 'canary-of-a-destroyed-key '.repeat(40)
    await put(store, 'key', removed)
    await put(store, 'other', 'kept')
    await store.write((db) => db.deleteFrom('flags').where('name', '=', 'key').execute())
    await store[Symbol.asyncDispose]()
    const bytes = readFileSync(join(dataDir, 'postern.db'))
    expect(bytes.includes('kept')).toBe(true)
    expect(bytes.includes('canary-of-a-destroyed-key')).toBe(false)
  })

  test('a store without a passphrase is protected by the first passphrase it opens with', async () => {
    const dataDir = await madeFolder()
    await made(dataDir, 'a passphrase')
    await expect(open(dataDir, { passphrase: 'another' })).rejects.toMatchObject({
      code: 'store-passphrase',
    })
    await open(dataDir, { passphrase: 'a passphrase' })
  })

  test('a passphrase costs 64 MiB and three passes of Argon2id, and a cheaper record is refused', async () => {
    const { row: cheap } = await createProtection({ method: 'passphrase', passphrase: 'words' })
    // A process of its own, since only the tests' own one has a low cost.
    const script = `
      import { createProtection, methodOf } from ${JSON.stringify(PROTECTION)}
      import { PASSPHRASE_COST } from ${JSON.stringify(COST)}
      const { row } = await createProtection({ method: 'passphrase', passphrase: 'words' })
      const buffers = (value) => (value?.type === 'Buffer' ? Buffer.from(value) : value)
      const cheap = JSON.parse(process.argv[1], (_name, value) => buffers(value))
      let refused = null
      try { methodOf(cheap) } catch ({ code }) { refused = code }
      const { derivation, n, r, p } = row
      const cost = { derivation, n, r, p }
      console.log(JSON.stringify([cost, PASSPHRASE_COST.scrypt, methodOf(row), refused]))`
    const args = ['--input-type=module', '-e', script, JSON.stringify(cheap)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(JSON.parse(stdout)).toEqual([
      { derivation: 'argon2id', n: 2 ** 16, r: 3, p: 1 },
      { n: 2 ** 17, r: 8, p: 1 },
      'passphrase',
      'store-corrupt',
    ])
  })
})
