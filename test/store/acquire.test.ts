import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acquire } from '../../src/store/acquire.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readOwner } from '../../src/store/owner.ts'
import { connectExclusive } from '../../src/store/sqlite.ts'
import { useKeychainDouble } from './keychain-double.ts'
import { execute, flags, modeOf, open, temporary, madeFolder } from './support.ts'

const sql = (dataDir: string, statement: string): void =>
  execute(join(dataDir, 'postern.db'), statement)

const existing = (dataDir: string) => ({ dataDir, passphrase: null, mode: 'existing' }) as const

/** Acquires a store until the test ends. */
async function acquired(opening: Parameters<typeof acquire>[0]) {
  const made_ = await acquire(opening)
  onTestFinished(() => made_.database.close())
  return made_
}

/** Nobody holds the store: it can be locked, and nobody is named. */
function expectFree(dataDir: string): void {
  expect(readOwner(dataDir)).toBeNull()
  connectExclusive(join(dataDir, 'postern.db')).close()
}

describe('a store that another process changes between the look and the lock', () => {
  test.each([
    ['its version', 'PRAGMA user_version = 9'],
    ['its protection', 'UPDATE protection SET digest = randomblob(32)'],
    ['that it has a protection', 'DELETE FROM protection'],
  ])('is in use: %s', async (_, statement) => {
    const dataDir = await madeFolder('words')
    let isChanged = false
    const opening = {
      dataDir,
      mode: 'existing' as const,
      // read after the look, and before the lock
      get passphrase() {
        if (!isChanged) sql(dataDir, statement)
        isChanged = true
        return 'words'
      },
    }
    await expect(acquire(opening)).rejects.toMatchObject({ code: 'store-in-use' })
    expect(isChanged).toBe(true)
    expectFree(dataDir)
  })
})

describe('an opening that fails late', () => {
  test('says what of the disk has failed', async () => {
    const dataDir = await madeFolder()
    // what an interrupted creation leaves is a file
    mkdirSync(join(dataDir, 'postern.db.new-1'))
    const opening = openStore(existing(dataDir))
    await expect(opening).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining(`${dataDir} cannot be written`),
    })
    expectFree(dataDir)
  })

  test('keeps no protection that could not be written', async () => {
    const dataDir = await madeFolder()
    const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON protection
      BEGIN SELECT RAISE(ABORT, 'refused'); END`
    sql(dataDir, refuse)
    const request = { dataDir, passphrase: 'words', mode: 'existing' } as const
    await expect(openStore(request)).rejects.toMatchObject({ code: 'store-corrupt' })
    expectFree(dataDir)
    sql(dataDir, 'DROP TRIGGER refuse')
    expect((await open(dataDir)).method).toBeNull()
  })
})

describe('a store that is not there', () => {
  test('is made only where that is asked for', async () => {
    for (const dataDir of [temporary(), join(temporary(), 'none')]) {
      const opening = acquire(existing(dataDir))
      await expect(opening).rejects.toMatchObject({
        code: 'store-missing',
        message: `there is no store in ${dataDir}`,
      })
    }
  })

  test('is not made where one was', async () => {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'store.json'), '')
    await expect(acquire({ dataDir, passphrase: null, mode: 'create' })).rejects.toMatchObject({
      code: 'store-missing',
      message: `${dataDir} held a store, but its database postern.db is gone`,
    })
    expect(readdirSync(dataDir)).toEqual(['store.json'])
  })
})

describe('a store that is there', () => {
  const keychain = useKeychainDouble()

  test('is opened by what it has, not by what a new one would get', async () => {
    const dataDir = await madeFolder('words')
    keychain.fails = new Error('locked')
    const request = { passphrase: 'words', protection: 'keychain', mode: 'create' } as const
    const { held } = await acquired({ dataDir, ...request })
    expect(held?.method).toBe('passphrase')
  })

  test('is closed to others', async () => {
    const dataDir = await madeFolder()
    chmodSync(join(dataDir, 'postern.db'), 0o666)
    await acquired(existing(dataDir))
    expect(modeOf(join(dataDir, 'postern.db'))).toBe('600')
  })
})

describe('what lies beside the database', () => {
  test('is closed to others too', async () => {
    const dataDir = temporary()
    const first = await open(dataDir)
    await first[Symbol.asyncDispose]()
    // a log that a process has left; an empty one is none to SQLite
    writeFileSync(join(dataDir, 'postern.db-wal'), '')
    chmodSync(join(dataDir, 'postern.db-wal'), 0o666)
    await acquired(existing(dataDir))
    expect(modeOf(join(dataDir, 'postern.db-wal'))).toBe('600')
  })

  test.each(['postern.db-wal', 'postern.db-shm'])(
    'is refused when it is no file: %s',
    async (name) => {
      const dataDir = await madeFolder()
      mkdirSync(join(dataDir, name))
      const opening = openStore(existing(dataDir))
      await expect(opening).rejects.toMatchObject({ code: 'data-dir' })
    },
  )

  test('that the look has left is removed, and the marker written', async () => {
    const dataDir = await madeFolder()
    writeFileSync(join(dataDir, 'postern.db-shm'), 'of a look')
    await acquired(existing(dataDir))
    expect(existsSync(join(dataDir, 'postern.db-shm'))).toBe(false)
    expect(readdirSync(dataDir)).toContain('store.json')
  })
})

test('a store is made only where none is, and its first protection is what was asked for', async () => {
  const dataDir = join(temporary(), 'data')
  const first = await acquire({ dataDir, passphrase: 'words', mode: 'create' })
  expect(first.held).toMatchObject({ method: 'passphrase' })
  const row = first.database.prepare('SELECT method FROM protection').get()
  expect({ ...row }).toEqual({ method: 'passphrase' })
  first.database.exec("INSERT INTO flags VALUES ('kept', 'yes')")
  first.database.close()
  expect(readOwner(dataDir)?.pid).toBe(process.pid)
  const store = await open(dataDir, { passphrase: 'words', mode: 'create' })
  expect(await flags(store)).toEqual({ kept: 'yes' })
})
