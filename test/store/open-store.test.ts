import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readOwner } from '../../src/store/owner.ts'
import { scrubIfDue } from '../../src/store/scrub.ts'
import type { Store } from '../../src/store/store.ts'
import { beforeSqlite } from './before-sqlite.ts'
import {
  describeFile,
  flags,
  newStore,
  open,
  put,
  sqliteError,
  temporary,
  testOfFile,
} from './support.ts'

afterEach(() => void vi.restoreAllMocks())

/** An error as node:fs throws it. */
const diskError = Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fsync' })

const UNWRITABLE = new Refusal('postern_store_unwritable').message

const isWritable = (store: Store): boolean[] => {
  const seen: boolean[] = []
  store.onWritable((writable) => seen.push(writable))
  return seen
}

/** Lets each statement fail that says this, as node:sqlite fails. */
function failStatements(words: string, error: Error): void {
  beforeSqlite('exec', (statement) => {
    if (statement.includes(words)) throw error
  })
}

describeFile('`Store.read`', () => {
  test('a read that fails on disk is refused by its error code, and other errors are thrown unchanged', async () => {
    const store = await open(temporary())
    const cause = sqliteError(11)
    await expect(store.read(() => Promise.reject(cause))).rejects.toMatchObject({
      code: 'store-corrupt',
      message: 'the store is damaged: it can no longer be read',
      cause,
    })
    // busy, read-only, failing and full are over one day
    for (const code of [5, 8, 10, 13]) {
      await expect(store.read(() => Promise.reject(sqliteError(code)))).rejects.toMatchObject({
        code: 'postern_store_unwritable',
      })
    }
    const mistake = sqliteError(1)
    await expect(store.read(() => Promise.reject(mistake))).rejects.toBe(mistake)
  })
})

describeFile('`Store.keepUp`', () => {
  test('an idle store in a file frees its page cache and works on', async () => {
    const store = await open(temporary())
    const statements: string[] = []
    beforeSqlite('exec', (statement) => void statements.push(statement))
    await store.keepUp()
    expect(statements).toEqual(['PRAGMA shrink_memory'])
    await put(store, 'one', 'kept')
    expect(await flags(store)).toMatchObject({ one: 'kept' })
    await store[Symbol.asyncDispose]()
    await expect(store.keepUp()).resolves.toBeUndefined()
  })
})

describe.each(['write', 'note'] as const)('`Store.%s`', (how) => {
  testOfFile(
    'a change that fails on disk is refused and reported once until a change succeeds',
    async () => {
      const store = await open(temporary())
      const seen = isWritable(store)
      for (const cause of [sqliteError(13), diskError]) {
        await expect(store[how](() => Promise.reject(cause))).rejects.toMatchObject({
          message: UNWRITABLE,
          cause,
        })
      }
      expect(seen).toEqual([false])
      await store[how](async () => {})
      await store[how](async () => {})
      expect(seen).toEqual([false, true])
    },
  )

  test('a change that throws is rolled back, and the store is not reported as unwritable', async () => {
    const store = await open(temporary())
    const seen = isWritable(store)
    const mistake = new Error('a mistake')
    const failing = store[how](async (db) => {
      await db.insertInto('flags').values({ name: 'a', value: 'b' }).execute()
      throw mistake
    })
    await expect(failing).rejects.toBe(mistake)
    expect([await flags(store), seen]).toEqual([{}, []])
  })

  test('a change of a closed store is refused', async () => {
    const store = await open(temporary())
    await store[Symbol.asyncDispose]()
    await expect(store[how](async () => {})).rejects.toMatchObject({
      code: 'postern_store_unwritable',
      message: expect.stringContaining('the store is closed'),
    })
  })
})

test('a secret of 32 bytes is made once for each name', async () => {
  const { store } = await newStore({ protection: 'none' })
  const [one, again, two] = await Promise.all(['a', 'a', 'b'].map((name) => store.secret(name)))
  expect([one?.length, two?.length, again]).toEqual([32, 32, one])
  expect(two).not.toEqual(one)
  const write = vi.spyOn(store, 'write')
  expect(await store.secret('a')).toEqual(one)
  expect(write).not.toHaveBeenCalled()
  expect(store.unseal('x', store.seal('x', Buffer.from('words'))).toString()).toBe('words')
})

test('a secret that was changed, or copied to another name, is refused as `store-corrupt`', async () => {
  const store = await open(temporary(), { protection: 'none' })
  await store.secret('a')
  await store.write(async (db) => {
    const row = await db.selectFrom('secrets').selectAll().executeTakeFirstOrThrow()
    await db
      .insertInto('secrets')
      .values({ ...row, name: 'b' })
      .execute()
    const sealed = Buffer.alloc(60)
    await db.updateTable('secrets').set({ sealed }).where('name', '=', 'a').execute()
  })
  const changed = {
    code: 'store-corrupt',
    message: 'the store is damaged: a sealed secret was changed',
  }
  for (const name of ['a', 'b']) await expect(store.secret(name)).rejects.toMatchObject(changed)
  expect(() => store.unseal('y', store.seal('x', Buffer.from('words')))).toThrow(changed.message)
})

testOfFile('a secret that is deleted by the database is refused as `store-corrupt`', async () => {
  const store = await open(temporary(), { protection: 'none' })
  await store.write(async (db) => {
    await sql`CREATE TRIGGER gone AFTER INSERT ON secrets BEGIN DELETE FROM secrets; END`.execute(
      db,
    )
  })
  await expect(store.secret('a')).rejects.toMatchObject({
    message: 'the store is damaged: a sealed secret is gone',
  })
})

test('a secret needs a protection', async () => {
  const store = await open(temporary())
  expect([store.method, store.masterSecret]).toEqual([null, null])
  const locked = { code: 'postern_locked', message: expect.stringContaining('has no protection') }
  await expect(store.secret('a')).rejects.toMatchObject(locked)
  expect(() => store.seal('a', Buffer.from('words'))).toThrow('has no protection')
  expect(() => store.unseal('a', Buffer.from('words'))).toThrow('has no protection')
})

describeFile('`Store.scrub`', () => {
  test.each([
    ['SQLite', sqliteError(10)],
    ['the file system', diskError],
  ])('a scrub that fails in %s is refused, and a second one succeeds', async (_, cause) => {
    const store = await open(temporary())
    await put(store, 'a', 'b')
    failStatements('wal_checkpoint(TRUNCATE)', cause)
    await expect(store.scrub()).rejects.toMatchObject({ message: UNWRITABLE, cause })
    vi.restoreAllMocks()
    await store.scrub()
  })
})

const words = { method: 'passphrase', passphrase: 'words' } as const
const relock = async (locked: string): Promise<string> => locked

testOfFile('a move with a failing scrub leaves a note, and the next start scrubs', async () => {
  const { dataDir, store } = await newStore({ protection: 'none' })
  failStatements('wal_checkpoint(TRUNCATE)', sqliteError(10))
  expect(await store.move(words, relock)).toEqual({ isScrubbed: false, oldEntry: null })
  vi.restoreAllMocks()
  expect(await flags(store)).toEqual({ scrub_due: '1' })
  await store[Symbol.asyncDispose]()
  const again = await open(dataDir, { passphrase: 'words' })
  const scrub = vi.spyOn(again, 'scrub')
  await scrubIfDue(again)
  expect(scrub).toHaveBeenCalledTimes(1)
  expect(await flags(again)).toEqual({})
  await scrubIfDue(again)
  expect(scrub).toHaveBeenCalledTimes(1)
})

testOfFile(
  'a move that fails on disk is refused as `store-unwritable` and can be repeated',
  async () => {
    const { dataDir, store } = await newStore({ protection: 'none' })
    const seen = isWritable(store)
    const fails = (error: Error) =>
      beforeSqlite('prepare', (statement) => {
        if (/^(insert into|update) "(protection|flags)"/.test(statement)) throw error
      })
    const cause = sqliteError(10)
    fails(cause)
    await expect(store.move(words, relock)).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining(
        `${dataDir} cannot be written: the protection was not moved`,
      ),
      cause,
    })
    expect([seen, store.method]).toEqual([[false], 'none'])
    vi.restoreAllMocks()
    const mistake = new Error('a mistake')
    fails(mistake)
    await expect(store.move(words, relock)).rejects.toBe(mistake)
    expect(seen).toEqual([false])
    vi.restoreAllMocks()
    await store.move(words, relock)
    expect([seen, store.method]).toEqual([[false, true], 'passphrase'])
  },
)

testOfFile('a closed store leaves the database and its marker, and no owner', async () => {
  const { dataDir, store } = await newStore()
  await put(store, 'kept', 'yes')
  expect(readOwner(dataDir)?.pid).toBe(process.pid)
  await store[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  expect(readOwner(dataDir)).toBeNull()
  expect(readdirSync(dataDir).toSorted()).toEqual(['postern.db', 'store.json'])
  expect(await flags(await open(dataDir))).toEqual({ kept: 'yes' })
})

test('a store closes after the running write and refuses reads meanwhile', async () => {
  const { dataDir, store } = await newStore()
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const writing = store.write(async (db) => {
    begun.resolve()
    await promise
    await db.insertInto('flags').values({ name: 'late', value: 'yes' }).execute()
  })
  await begun.promise
  const closing = store[Symbol.asyncDispose]()
  await expect(store.read(async () => 1)).rejects.toThrow('the store is closed')
  resolve()
  await Promise.all([writing, closing])
  expect(await flags(await open(dataDir))).toEqual({ late: 'yes' })
})

testOfFile('a store that is closed on a failing disk keeps its rows in the log', async () => {
  const dataDir = temporary()
  const store = await openStore({ dataDir, passphrase: null, mode: 'create' })
  await put(store, 'kept', 'yes')
  failStatements('wal_checkpoint(TRUNCATE)', sqliteError(13))
  await store[Symbol.asyncDispose]()
  vi.restoreAllMocks()
  expect(await flags(await open(dataDir))).toEqual({ kept: 'yes' })
})

testOfFile('a copy is in the folder of the store, and a closed store makes none', async () => {
  const { dataDir, store } = await newStore()
  const copy = await store.copy()
  expect(copy).toContain(join(dataDir, 'postern.backup-'))
  expect(readdirSync(dataDir)).toContain(copy.slice(dataDir.length + 1))
  await store[Symbol.asyncDispose]()
  for (const done of [() => store.copy(), () => store.scrub()]) {
    await expect(done()).rejects.toThrow('the store is closed')
  }
})
