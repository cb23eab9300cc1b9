import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { acquire } from '../../src/store/acquire.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readOwner } from '../../src/store/owner.ts'
import { connectExclusive } from '../../src/store/sqlite.ts'
import { execute, madeFolder, modeOf, newStore, temporary } from './support.ts'

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

test.each([
  ['its version', 'PRAGMA user_version = 9'],
  ['its protection', 'UPDATE protection SET digest = randomblob(32)'],
  ['its protection to none', 'DELETE FROM protection'],
])(
  'a store is refused as `store-in-use` where another process changed %s before the lock',
  async (_, statement) => {
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
  },
)

test('`openStore` that cannot clean the data directory throws `store-unwritable` and releases the lock', async () => {
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

test('a missing store is refused as `store-missing` in mode `existing`', async () => {
  for (const dataDir of [temporary(), join(temporary(), 'none')]) {
    const opening = acquire(existing(dataDir))
    await expect(opening).rejects.toMatchObject({
      code: 'store-missing',
      message: `there is no store in ${dataDir}`,
    })
  }
})

test('a log that other users can read is closed to them when the store opens', async () => {
  const { dataDir, store: first } = await newStore()
  await first[Symbol.asyncDispose]()
  // a log that a process has left; an empty one is none to SQLite
  writeFileSync(join(dataDir, 'postern.db-wal'), '')
  chmodSync(join(dataDir, 'postern.db-wal'), 0o666)
  await acquired(existing(dataDir))
  expect(modeOf(join(dataDir, 'postern.db-wal'))).toBe('600')
})

test.each(['postern.db', 'postern.db-wal', 'postern.db-shm'])(
  'a folder named %s in place of a database file is refused',
  async (name) => {
    const dataDir = await madeFolder()
    rmSync(join(dataDir, name), { force: true })
    mkdirSync(join(dataDir, name))
    const opening = openStore(existing(dataDir))
    await expect(opening).rejects.toMatchObject({ code: 'data-dir' })
  },
)

test('an opened store has its marker, and no shared-memory file of an earlier inspection', async () => {
  const dataDir = await madeFolder()
  writeFileSync(join(dataDir, 'postern.db-shm'), 'of a look')
  await acquired(existing(dataDir))
  expect(existsSync(join(dataDir, 'postern.db-shm'))).toBe(false)
  expect(readdirSync(dataDir)).toContain('store.json')
})
