/** From 0.1.0 on every store opens in every later version. */
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { Keyring } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { readBackup } from '../../src/store/backup.ts'
import { createDatabase } from '../../src/store/create.ts'
import { copiesIn } from '../../src/store/inspect.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { pragma } from '../../src/store/sqlite.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { FIRST_STORE } from './first-store.ts'
import { execute, open, schemaOf, temporary } from './support.ts'
import { memoryOf } from '../../src/store/memory.ts'

const FILE = join(import.meta.dirname, 'fixtures', FIRST_STORE.file)
const { passphrase, botId } = FIRST_STORE
const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

/** A data directory with the store of 0.1.0. */
function firstStore(): string {
  const dataDir = join(temporary(), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const file = join(dataDir, 'postern.db')
  copyFileSync(FILE, file)
  chmodSync(file, 0o600)
  return dataDir
}

/** A database file, read. */
function reading<T>(file: string, read: (database: DatabaseSync) => T): T {
  using database = new DatabaseSync(file, { readOnly: true })
  return read(database)
}

test('a store of 0.1.0 opens with every key and secret', async () => {
  const store = await open(firstStore(), { passphrase, botId, mode: 'existing' })
  const keys = await Keyring.load(memoryOf(store), engine, {
    retainMs: Infinity,
    time: SYSTEM_TIME,
    serviceNowMs: () => null,
  })
  expect(keys.all.map(({ state }) => state)).toEqual(['pending', 'active', 'retired'])
  expect(keys.unlocked).toHaveLength(3)
  const { sealed } = await store.read((db) =>
    db.selectFrom('secrets').selectAll().where('name', '=', 'webhook').executeTakeFirstOrThrow(),
  )
  expect(store.unseal('webhook', sealed).toString()).toContain(FIRST_STORE.webhook)
  expect(await store.secret('replay')).toHaveLength(32)
  const chat = await store.read((db) => db.selectFrom('chats').selectAll().executeTakeFirst())
  expect(chat).toMatchObject({ id: 1, kind: 'private', latched_at: 10, person_id: 5 })
})

test('a store of 0.1.0 is migrated to the tables of a new store and keeps its rows and a copy', async () => {
  expect(reading(FILE, (database) => pragma(database, 'user_version'))).toBe(FIRST_STORE.version)
  const [dataDir, empty] = [firstStore(), temporary()]
  const store = await open(dataDir, { passphrase, mode: 'existing' })
  await store[Symbol.asyncDispose]()
  createDatabase(empty)
  const [ours, fresh] = [dataDir, empty].map((folder) =>
    reading(join(folder, 'postern.db'), schemaOf),
  )
  expect(ours).toEqual(fresh)
  const count = (file: string, table: string): number =>
    reading(file, (database) =>
      Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']),
    )
  const since = ['clients', 'client_rates', 'cursors', 'outbox', 'journal_heads', 'forgotten']
  const counts = CARRIED_TABLES.filter((table) => !since.includes(table)).map((table) =>
    count(join(dataDir, 'postern.db'), table),
  )
  expect(counts.every((rows) => rows > 0)).toBe(true)
  // a copy of the old one is kept beside what was changed
  expect(copiesIn(dataDir)).toHaveLength(NEWEST_VERSION === FIRST_STORE.version ? 0 : 1)
})

test('a backup of 0.1.0 is readable without migration', async () => {
  expect(await readBackup(FILE, { passphrase })).toMatchObject({
    version: FIRST_STORE.version,
    method: 'passphrase',
    keys: [{ state: 'pending' }, { state: 'active' }, { state: 'retired' }],
  })
})

test('a store from before 0.1.0 is refused as `store-older` and stays unchanged', async () => {
  const dataDir = firstStore()
  const file = join(dataDir, 'postern.db')
  execute(file, `PRAGMA user_version = ${FIRST_STORE.version - 1}`)
  const before = reading(file, (of) => of.prepare('SELECT * FROM own_keys').all())
  for (const mode of ['create', 'existing'] as const) {
    await expect(open(dataDir, { passphrase, mode })).rejects.toMatchObject({
      code: 'store-older',
      message: expect.stringContaining('from before Postern 0.1.0'),
      hint: expect.stringContaining('move the store aside'),
    })
  }
  expect(reading(file, (of) => of.prepare('SELECT * FROM own_keys').all())).toEqual(before)
  expect(reading(file, (of) => pragma(of, 'user_version'))).toBe(FIRST_STORE.version - 1)
})
