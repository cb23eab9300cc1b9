import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  connectExclusive,
  connectReading,
  connectStill,
  isBusy,
  isDiskFailure,
  isStorageFailure,
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

describe('`connectExclusive`', () => {
  test('`connectExclusive` sets the pragmas for durability, secure deletion and locking', () => {
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

  test('`connectExclusive` refuses changes of `sqlite_schema`', () => {
    const database = connected(databaseFile(), connectExclusive)
    database.exec('PRAGMA writable_schema=ON')
    expect(() => database.exec('DELETE FROM sqlite_schema')).toThrow('may not be modified')
  })

  test('`connectExclusive` makes no missing database', () => {
    const file = join(temporary(), 'none.db')
    expect(() => connectExclusive(file)).toThrow('unable to open')
    expect(existsSync(file)).toBe(false)
  })

  test('`connectExclusive` closes a file that is no database', () => {
    const file = join(temporary(), 'words')
    writeFileSync(file, 'words '.repeat(1000))
    const close = vi.spyOn(DatabaseSync.prototype, 'close')
    onTestFinished(() => close.mockRestore())
    expect(() => connectExclusive(file)).toThrow('not a database')
    expect(close).toHaveBeenCalledTimes(1)
  })
})

describe('`connectReading` and `connectStill`', () => {
  test.each([
    ['beside others', connectReading],
    ['at what nobody has open', connectStill],
  ])('a connection of %s reads and refuses writes', (_, connect) => {
    const file = databaseFile()
    const database = connected(file, connect)
    expect(valueOf(database, 'SELECT word FROM words')).toBe('one')
    expect(() => database.exec("INSERT INTO words VALUES ('two')")).toThrow('readonly')
    database.close()
    expect(readdirSync(dirname(file))).toHaveLength(1)
  })

  test('`connectReading` reads the log of another connection, and `connectStill` reads only the file', () => {
    const file = databaseFile()
    const writing = connected(file)
    writing.exec("PRAGMA journal_mode=WAL; UPDATE words SET word = 'two'")
    expect(valueOf(connected(file, connectReading), 'SELECT word FROM words')).toBe('two')
    // this one looks at the file alone, for which it takes no lock
    const still = connected(file, connectStill)
    expect(valueOf(still, 'SELECT word FROM words')).toBe('one')
  })
})

describe('errors of SQLite', () => {
  test('`resultCode` is the primary code of a SQLite error, and null for other errors', () => {
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
      for (const is of [isBusy, isDiskFailure, isStorageFailure]) expect(is(other)).toBe(false)
    }
  })

  test('`isBusy`, `isDiskFailure` and `isStorageFailure` classify every primary code', () => {
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
