import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readOwner } from '../../src/store/owner.ts'
import { LogSync } from '../../src/store/log-sync.ts'
import { scrubIfDue } from '../../src/store/scrub.ts'
import type { Store } from '../../src/store/store.ts'
import { beforeSqlite } from './before-sqlite.ts'
import { describeFile, testOfFile, flags, open, put, sqliteError, temporary } from './support.ts'

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

describeFile('reading', () => {
  test('that the disk fails says that the store is damaged; another error stays', async () => {
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

describeFile('a store at rest', () => {
  test('lets go of the pages that it has read, and reads and writes on', async () => {
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

describe.each(['write', 'note'] as const)('%s', (how) => {
  testOfFile(
    'that the disk fails is refused, and it is said once until one works again',
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

  test('that fails by a mistake throws it, leaves nothing, and does not blame the disk', async () => {
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

  test('is refused once the store is closed', async () => {
    const store = await open(temporary())
    await store[Symbol.asyncDispose]()
    await expect(store[how](async () => {})).rejects.toMatchObject({
      code: 'postern_store_unwritable',
      message: expect.stringContaining('the store is closed'),
    })
  })
})

testOfFile('a note is there when the log is on the disk, and a write waits for none', async () => {
  const store = await open(temporary())
  const sync = vi.spyOn(LogSync.prototype, 'sync').mockRejectedValue(diskError)
  const unsynced = vi.spyOn(LogSync.prototype, 'unsynced')
  const mend = vi.spyOn(LogSync.prototype, 'mend')
  await put(store, 'written', 'yes')
  expect([mend, unsynced, sync].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0])
  const noting = store.note((db) =>
    db.insertInto('flags').values({ name: 'noted', value: 'yes' }).execute(),
  )
  await expect(noting).rejects.toMatchObject({ code: 'postern_store_unwritable' })
  expect([mend, unsynced, sync].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 1])
  // it does no harm that it is there
  expect(await flags(store)).toEqual({ written: 'yes', noted: 'yes' })
})

describe('secrets', () => {
  test('are made once by their name, of 32 bytes', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { protection: 'none' })
    const [one, again, two] = await Promise.all(['a', 'a', 'b'].map((name) => store.secret(name)))
    expect([one?.length, two?.length, again]).toEqual([32, 32, one])
    expect(two).not.toEqual(one)
    const write = vi.spyOn(store, 'write')
    expect(await store.secret('a')).toEqual(one)
    expect(write).not.toHaveBeenCalled()
    expect(store.unseal('x', store.seal('x', Buffer.from('words'))).toString()).toBe('words')
  })

  test('that were changed say so', async () => {
    const store = await open(temporary(), { protection: 'none' })
    await store.secret('a')
    await store.write((db) =>
      db
        .updateTable('secrets')
        .set({ sealed: Buffer.alloc(60) })
        .execute(),
    )
    const changed = {
      code: 'store-corrupt',
      message: 'the store is damaged: a sealed secret was changed',
    }
    await expect(store.secret('a')).rejects.toMatchObject(changed)
    expect(() => store.unseal('y', store.seal('x', Buffer.from('words')))).toThrow(changed.message)
  })

  testOfFile('that do not stay are damage', async () => {
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

  test('need a protection', async () => {
    const store = await open(temporary())
    expect([store.method, store.masterSecret]).toEqual([null, null])
    const locked = { code: 'postern_locked', message: expect.stringContaining('has no protection') }
    await expect(store.secret('a')).rejects.toMatchObject(locked)
    expect(() => store.seal('a', Buffer.from('words'))).toThrow('has no protection')
    expect(() => store.unseal('a', Buffer.from('words'))).toThrow('has no protection')
  })
})

describeFile('scrubbing', () => {
  test.each([
    ['SQLite', sqliteError(10)],
    ['the file system', diskError],
  ])('that %s fails is refused', async (_, cause) => {
    const store = await open(temporary())
    await put(store, 'a', 'b')
    failStatements('wal_checkpoint(TRUNCATE)', cause)
    await expect(store.scrub()).rejects.toMatchObject({ message: UNWRITABLE, cause })
    vi.restoreAllMocks()
    await store.scrub()
  })

  test('that fails by a mistake throws it', async () => {
    const store = await open(temporary())
    await put(store, 'a', 'b')
    const mistake = new Error('a mistake')
    failStatements('wal_checkpoint(TRUNCATE)', mistake)
    await expect(store.scrub()).rejects.toBe(mistake)
  })
})

describe('moving', () => {
  const words = { method: 'passphrase', passphrase: 'words' } as const
  const relock = async (locked: string): Promise<string> => locked

  test('says that it scrubbed, and that no keychain holds what was', async () => {
    const store = await open(temporary(), { protection: 'none' })
    const seen = isWritable(store)
    expect(await store.move(words, relock)).toEqual({ isScrubbed: true, oldEntry: null })
    expect([store.method, await flags(store), seen]).toEqual(['passphrase', {}, []])
  })

  testOfFile('whose scrub fails leaves a note, and the next start does it', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { protection: 'none' })
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

  testOfFile('that the disk fails may have been done, and is said to be so', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { protection: 'none' })
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
  })
})

describe('closing', () => {
  testOfFile('is done once, and leaves one file that everybody may open', async () => {
    const dataDir = temporary()
    const store = await open(dataDir)
    await put(store, 'kept', 'yes')
    expect(readOwner(dataDir)?.pid).toBe(process.pid)
    await store[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    expect([readOwner(dataDir), readdirSync(dataDir).toSorted()]).toEqual([
      null,
      ['postern.db', 'store.json'],
    ])
    expect(await flags(await open(dataDir))).toEqual({ kept: 'yes' })
  })

  test('waits for what runs', async () => {
    const dataDir = temporary()
    const store = await open(dataDir)
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

  testOfFile('on a disk that fails keeps everything in the log', async () => {
    const dataDir = temporary()
    const store = await openStore({ dataDir, passphrase: null, mode: 'create' })
    await put(store, 'kept', 'yes')
    failStatements('wal_checkpoint(TRUNCATE)', sqliteError(13))
    await store[Symbol.asyncDispose]()
    vi.restoreAllMocks()
    expect(await flags(await open(dataDir))).toEqual({ kept: 'yes' })
  })

  testOfFile('says a mistake of the program', async () => {
    const store = await openStore({ dataDir: temporary(), passphrase: null, mode: 'create' })
    failStatements('wal_checkpoint(TRUNCATE)', new Error('a mistake'))
    await expect(store[Symbol.asyncDispose]()).rejects.toThrow('a mistake')
  })
})

testOfFile('a copy lies in the folder of the store, and none is made of a closed one', async () => {
  const dataDir = temporary()
  const store = await open(dataDir)
  const copy = await store.copy()
  expect(copy).toContain(join(dataDir, 'postern.backup-'))
  expect(readdirSync(dataDir)).toContain(copy.slice(dataDir.length + 1))
  await store[Symbol.asyncDispose]()
  for (const done of [() => store.copy(), () => store.scrub()]) {
    await expect(done()).rejects.toThrow('the store is closed')
  }
})
