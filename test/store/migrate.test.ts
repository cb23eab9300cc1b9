import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import type { SchemaStep } from '../../src/store/migrations.ts'
import { pragma } from '../../src/store/sqlite.ts'
import { fileCalls } from '../support/file-calls.ts'
import { modeOf, temporary } from './support.ts'

const step = (name: string, ...statements: string[]): SchemaStep => ({
  name,
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
const FIRST = step('001', 'CREATE TABLE words (word TEXT)', `INSERT INTO words VALUES ('old')`)
const SECOND = step('002', `ALTER TABLE words ADD COLUMN language TEXT DEFAULT 'en'`)
const THIRD = step('003', `UPDATE words SET word = 'new'`)
const BROKEN = step('004', `INSERT INTO words VALUES ('half', 'x')`, 'CREATE TABLE words (x TEXT)')

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

describe('bringing an older store up to date', () => {
  test('a new store takes every step, and no copy is made', async () => {
    const { dataDir, file, database } = fresh()
    expect(await migrate(database, file, [FIRST, SECOND])).toBeNull()
    expect(pragma(database, 'user_version')).toBe(2)
    expect(rows(database)).toEqual([{ word: 'old', language: 'en' }])
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
  })

  test('an older store takes only what it lacks, after a copy of it was made beside it', async () => {
    const { dataDir, file, database } = fresh()
    await migrate(database, file, [FIRST])
    const copy = await migrate(database, file, [FIRST, SECOND, THIRD])
    expect(pragma(database, 'user_version')).toBe(3)
    expect(rows(database)).toEqual([{ word: 'new', language: 'en' }])

    expect(copy).toMatch(/postern\.v1\.\w+\.db$/)
    expect(modeOf(copy ?? '')).toBe('600')
    const old = new DatabaseSync(copy ?? '')
    expect(pragma(old, 'user_version')).toBe(1)
    expect(rows(old)).toEqual([{ word: 'old' }])
    expect(readdirSync(dataDir)).toHaveLength(2)
  })

  test('a store of our own version is left alone', async () => {
    const { dataDir, file, database } = fresh()
    await migrate(database, file, [FIRST])
    expect(await migrate(database, file, [FIRST])).toBeNull()
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
  })

  test('the copy is on disk before anything is changed', async () => {
    const { dataDir, file, database } = fresh()
    await migrate(database, file, [FIRST])
    let migrating: Promise<unknown> | undefined
    const calls = fileCalls(() => {
      migrating = migrate(database, file, [FIRST, SECOND])
    })
    expect(calls.map(({ name, file: of }) => `${name} ${of}`)).toContain(
      `fsyncSync ${basename(dataDir)}`,
    )
    await migrating
  })

  test('nothing is changed where no copy can be made, and no half of one is left', async () => {
    const { dataDir, file, database } = fresh()
    await migrate(database, file, [FIRST])
    // SQLite makes no copy within a transaction
    database.exec('BEGIN')
    await expect(migrate(database, file, [FIRST, SECOND])).rejects.toThrow('cannot VACUUM')
    database.exec('ROLLBACK')
    expect(pragma(database, 'user_version')).toBe(1)
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
  })

  test('a step that fails leaves the store as it was, every earlier step of the run included', async () => {
    const { file, database } = fresh()
    await migrate(database, file, [FIRST])
    await expect(migrate(database, file, [FIRST, SECOND, THIRD, BROKEN])).rejects.toThrow(
      /already exists/,
    )
    expect(pragma(database, 'user_version')).toBe(1)
    expect(rows(database)).toEqual([{ word: 'old' }])
    await migrate(database, file, [FIRST, SECOND])
    expect(pragma(database, 'user_version')).toBe(2)
  })
})
