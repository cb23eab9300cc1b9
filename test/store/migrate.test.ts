import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import type { SchemaStep } from '../../src/store/migrations.ts'
import { pragma } from '../../src/store/sqlite.ts'
import { fileCalls } from '../support/file-calls.ts'
import { modeOf, temporary } from './support.ts'

const step = (version: number, ...statements: string[]): SchemaStep => ({ version, statements })
const FIRST = step(1, 'CREATE TABLE words (word TEXT)', `INSERT INTO words VALUES ('old')`)
const SECOND = step(2, `ALTER TABLE words ADD COLUMN language TEXT DEFAULT 'en'`)
const THIRD = step(3, `UPDATE words SET word = 'new'`)
const BROKEN = step(4, `INSERT INTO words VALUES ('half', 'x')`, 'CREATE TABLE words (x TEXT)')

const rows = (database: DatabaseSync) =>
  database
    .prepare('SELECT * FROM words')
    .all()
    .map((row) => ({ ...row }))

function fresh(): { dataDir: string; file: string; database: DatabaseSync } {
  const dataDir = temporary()
  const file = join(dataDir, 'postern.db')
  return { dataDir, file, database: new DatabaseSync(file) }
}

test('a new store runs every step and makes no copy', () => {
  const { dataDir, file, database } = fresh()
  expect(migrate(database, file, [FIRST, SECOND])).toBeNull()
  expect(pragma(database, 'user_version')).toBe(2)
  expect(rows(database)).toEqual([{ word: 'old', language: 'en' }])
  expect(readdirSync(dataDir)).toEqual(['postern.db'])
})

test('an older store runs the missing steps after a copy of mode 0600 was made', () => {
  const { dataDir, file, database } = fresh()
  migrate(database, file, [FIRST])
  const copy = migrate(database, file, [FIRST, SECOND, THIRD])
  expect(pragma(database, 'user_version')).toBe(3)
  expect(rows(database)).toEqual([{ word: 'new', language: 'en' }])

  expect(copy).toMatch(/postern\.v1\.\w+\.db$/)
  expect(modeOf(copy ?? '')).toBe('600')
  const old = new DatabaseSync(copy ?? '')
  expect(pragma(old, 'user_version')).toBe(1)
  expect(rows(old)).toEqual([{ word: 'old' }])
  expect(readdirSync(dataDir)).toHaveLength(2)
})

test('a store of the newest version is neither changed nor copied', () => {
  const { dataDir, file, database } = fresh()
  migrate(database, file, [FIRST])
  expect(migrate(database, file, [FIRST])).toBeNull()
  expect(readdirSync(dataDir)).toEqual(['postern.db'])
})

test('the copy of an older store is synced before the first change', () => {
  const { dataDir, file, database } = fresh()
  migrate(database, file, [FIRST])
  const calls = fileCalls(() => {
    migrate(database, file, [FIRST, SECOND])
  })
  expect(calls.map(({ name, file: of }) => `${name} ${of}`)).toContain(
    `fsyncSync ${basename(dataDir)}`,
  )
})

test('a store that cannot be copied is not migrated, and no partial copy is left', () => {
  const { dataDir, file, database } = fresh()
  migrate(database, file, [FIRST])
  // SQLite makes no copy within a transaction
  database.exec('BEGIN')
  expect(() => migrate(database, file, [FIRST, SECOND])).toThrow('cannot VACUUM')
  database.exec('ROLLBACK')
  expect(pragma(database, 'user_version')).toBe(1)
  expect(readdirSync(dataDir)).toEqual(['postern.db'])
})

test('a failing step rolls back every step of the migration', () => {
  const { file, database } = fresh()
  migrate(database, file, [FIRST])
  expect(() => migrate(database, file, [FIRST, SECOND, THIRD, BROKEN])).toThrow(/already exists/)
  expect(pragma(database, 'user_version')).toBe(1)
  expect(rows(database)).toEqual([{ word: 'old' }])
  migrate(database, file, [FIRST, SECOND])
  expect(pragma(database, 'user_version')).toBe(2)
})
