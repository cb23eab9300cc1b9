import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test, vi } from 'vitest'
import { createDatabase, putInPlace, settle } from '../../src/store/create.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { APPLICATION_ID, pragma } from '../../src/store/sqlite.ts'
import { modeOf, restoreMocks, temporary } from './support.ts'

restoreMocks()

/** From now on no hard link can be made, for this reason. */
function failLinks(code: string, before: () => void = () => {}): Error {
  const error = Object.assign(new Error(code), { code, syscall: 'link' })
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    before()
    throw error
  })
  syncBuiltinESMExports()
  return error
}

describe('`createDatabase`', () => {
  test('a new database has mode 0600, our application id and the newest version, and no file beside it', () => {
    const dataDir = temporary()
    const open = vi.spyOn(fs, 'openSync')
    syncBuiltinESMExports()
    createDatabase(dataDir)
    // its name is on disk
    expect(open.mock.lastCall?.[0]).toBe(dataDir)
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
    const file = join(dataDir, 'postern.db')
    expect(modeOf(file)).toBe('600')
    const database = new DatabaseSync(file, { readOnly: true })
    expect(pragma(database, 'application_id')).toBe(APPLICATION_ID)
    expect(pragma(database, 'user_version')).toBe(NEWEST_VERSION)
    expect(database.prepare('SELECT * FROM flags').all()).toEqual([])
    database.close()
  })

  test('a new database does not replace an existing one', () => {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'postern.db'), 'another')
    createDatabase(dataDir)
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
    expect(readFileSync(join(dataDir, 'postern.db'), 'utf8')).toBe('another')
  })

  test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
    'a file system without hard links (%s) is refused, and no file is left',
    (code) => {
      const dataDir = temporary()
      failLinks(code)
      expect(() => createDatabase(dataDir)).toThrow(
        expect.objectContaining({
          code: 'data-dir',
          message: 'the file system of `dataDir` has no hard links',
          hint: 'put `dataDir` on a local file system',
        }),
      )
      expect(readdirSync(dataDir)).toEqual([])
    },
  )

  test('a disk error while a database is created is thrown, and no file is left', () => {
    const dataDir = temporary()
    const error = failLinks('EIO')
    expect(() => createDatabase(dataDir)).toThrow(error)
    expect(readdirSync(dataDir)).toEqual([])
  })
})

test('`putInPlace` keeps the database of another process where its own link fails', () => {
  const dataDir = temporary()
  failLinks('EIO', () => writeFileSync(join(dataDir, 'postern.db'), 'another'))
  expect(putInPlace(join(dataDir, 'new'), dataDir)).toBe(false)
})

describe('`settle`', () => {
  test('the marker of a store is written once and stays unchanged', () => {
    const dataDir = temporary()
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 2), toFake: ['Date'] })
    settle(dataDir)
    vi.useRealTimers()
    const text = readFileSync(join(dataDir, 'store.json'), 'utf8')
    expect(JSON.parse(text)).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      createdAt: '2026-01-02T00:00:00.000Z',
      format: 1,
    })
    expect(text.endsWith('}\n')).toBe(true)
    settle(dataDir)
    expect(readFileSync(join(dataDir, 'store.json'), 'utf8')).toBe(text)
  })

  test('unfinished databases and backups are removed when a store opens, and other files stay', () => {
    const dataDir = temporary()
    const stays = ['a-postern.db.new-1', 'my-postern.backup-1', 'postern.db', 'postern.v1.a.db']
    for (const name of [...stays, 'postern.db.new-1', 'postern.backup-1', 'store.json']) {
      writeFileSync(join(dataDir, name), '')
    }
    settle(dataDir)
    expect(readdirSync(dataDir).toSorted()).toEqual([...stays, 'store.json'])
  })
})
