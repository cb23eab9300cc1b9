import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  APPLICATION_ID,
  connectExclusive,
  connectReading,
  connectStill,
  isBusy,
  isDiskFailure,
  isStorageFailure,
  pragma,
  resultCode,
} from '../../src/store/sqlite.ts'
import { connected, sqliteError, temporary } from './support.ts'

/** A database with one row, that nobody has open. */
function databaseFile(): string {
  const file = join(temporary(), 'a name with ? and #.db')
  const database = new DatabaseSync(file)
  database.exec("CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('one')")
  database.close()
  return file
}

const valueOf = (database: DatabaseSync, query: string): unknown =>
  Object.values(database.prepare(query).get() ?? {})[0]

describe('the connection that writes', () => {
  test('loses nothing that it was told is written, and leaves nothing that was removed', () => {
    const database = connected(databaseFile(), connectExclusive)
    const pragmas = {
      locking_mode: 'exclusive',
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      temp_store: 2,
      secure_delete: 1,
    }
    for (const [name, value] of Object.entries(pragmas)) {
      expect([name, valueOf(database, `PRAGMA ${name}`)]).toEqual([name, value])
    }
    expect(database.isTransaction).toBe(false)
  })

  test('does not let anybody write into the tables of SQLite itself', () => {
    const database = connected(databaseFile(), connectExclusive)
    database.exec('PRAGMA writable_schema=ON')
    expect(() => database.exec('DELETE FROM sqlite_schema')).toThrow('may not be modified')
  })

  test('is the only one until it is closed', () => {
    const file = databaseFile()
    const database = connected(file, connectExclusive)
    let busy: unknown
    try {
      connectExclusive(file)
    } catch (error) {
      busy = error
    }
    expect(isBusy(busy)).toBe(true)
    database.close()
    connected(file, connectExclusive)
  })

  test('makes no database where none is', () => {
    const file = join(temporary(), 'none.db')
    expect(() => connectExclusive(file)).toThrow('unable to open')
    expect(existsSync(file)).toBe(false)
  })

  test('is closed where the file is no database', () => {
    const file = join(temporary(), 'words')
    writeFileSync(file, 'words '.repeat(1000))
    const close = vi.spyOn(DatabaseSync.prototype, 'close')
    onTestFinished(() => close.mockRestore())
    expect(() => connectExclusive(file)).toThrow('not a database')
    expect(close).toHaveBeenCalledTimes(1)
  })
})

describe('a connection that looks', () => {
  test.each([
    ['beside others', connectReading],
    ['at what nobody has open', connectStill],
  ])('%s reads, and writes nothing', (_, connect) => {
    const file = databaseFile()
    const database = connected(file, connect)
    expect(valueOf(database, 'SELECT word FROM words')).toBe('one')
    expect(() => database.exec("INSERT INTO words VALUES ('two')")).toThrow('readonly')
    database.close()
    expect(readdirSync(dirname(file))).toHaveLength(1)
  })

  test('sees what somebody who writes has written', () => {
    const file = databaseFile()
    const writing = connected(file)
    writing.exec("PRAGMA journal_mode=WAL; UPDATE words SET word = 'two'")
    expect(valueOf(connected(file, connectReading), 'SELECT word FROM words')).toBe('two')
    // this one looks at the file alone, for which it takes no lock
    const still = connected(file, connectStill)
    expect(valueOf(still, 'SELECT word FROM words')).toBe('one')
  })
})

test('a pragma is a number', () => {
  const database = connected(':memory:')
  expect(pragma(database, 'user_version')).toBe(0)
  database.exec(`PRAGMA user_version = 7; PRAGMA application_id = ${APPLICATION_ID}`)
  expect([pragma(database, 'user_version'), pragma(database, 'application_id')]).toEqual([
    7,
    Buffer.from('PstN').readInt32BE(),
  ])
})

describe('an error', () => {
  test('has the primary code of what SQLite says, and others have none', () => {
    // SQLITE_IOERR_FSYNC (sqlite.org/rescode.html)
    expect(resultCode(sqliteError(1034))).toBe(10)
    expect([5, 1].map((code) => resultCode(sqliteError(code)))).toEqual([5, 1])
    for (const other of [
      null,
      undefined,
      'words',
      new Error('words'),
      { code: 'ERR_SQLITE_ERROR' },
      { code: 'ERR_SQLITE_ERROR', errcode: '5' },
      { code: 'ENOSPC', errcode: 5 },
    ]) {
      expect(resultCode(other)).toBeNull()
      expect([isBusy(other), isDiskFailure(other), isStorageFailure(other)]).toEqual([
        false,
        false,
        false,
      ])
    }
  })

  test('is told apart by what failed: another’s lock, the disk, the storage, or the statement', () => {
    const codes = Array.from({ length: 27 }, (_, index) => index + 1)
    const which = (is: (error: unknown) => boolean): number[] =>
      codes.filter((code) => is(sqliteError(code)))
    expect(which(isBusy)).toEqual([5, 6])
    // PERM, READONLY, IOERR, FULL, CANTOPEN
    expect(which(isDiskFailure)).toEqual([3, 8, 10, 13, 14])
    // all but ERROR, CONSTRAINT, MISMATCH, MISUSE and RANGE
    const statements = new Set([1, 19, 20, 21, 25])
    expect(which(isStorageFailure)).toEqual(codes.filter((code) => !statements.has(code)))
  })
})
