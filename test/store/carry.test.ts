/** Rows of one database file in another. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  CARRIED_TABLES,
  fillFile,
  ROWS_AT_ONCE,
  rowsIn,
  type Row,
  type RowSource,
} from '../../src/store/carry.ts'
import { EncryptionKeyRows } from '../../src/store/records/certificates.ts'
import { examine } from '../../src/store/inspect.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { open, temporary } from './support.ts'

/** A table of so many rows, as `rowsIn` gives them. @returns how many come at once */
async function piecesOf(count: number): Promise<number[]> {
  using database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE names (user_id INTEGER, username TEXT)')
  const insert = database.prepare('INSERT INTO names VALUES (?, ?)')
  for (let n = 0; n < count; n++) insert.run(n, 'alice')
  const pieces: Row[][] = []
  for await (const rows of rowsIn(database, 'names')) pieces.push(rows)
  expect(pieces.flat().map((row) => row['user_id'])).toEqual(
    Array.from({ length: count }, (_, n) => n),
  )
  return pieces.map(({ length }) => length)
}

test.each([
  ['none', 0, []],
  ['a few', 3, [3]],
  ['as many as one statement holds', ROWS_AT_ONCE, [ROWS_AT_ONCE]],
  ['one more', ROWS_AT_ONCE + 1, [ROWS_AT_ONCE, 1]],
])('%s are given each once, in pieces of one statement', async (_, count, pieces) => {
  expect(await piecesOf(count)).toEqual(pieces)
})

test('a statement with rows of the widest table has no more parameters than SQLite allows', async () => {
  const file = join(temporary(), 'copy.db')
  await fillFile(file, async function* () {})
  using database = new DatabaseSync(file)
  const columns = database.prepare('SELECT count(*) AS n FROM pragma_table_info(?)')
  const widest = Math.max(...CARRIED_TABLES.map((table) => Number(columns.get(table)?.['n'])))
  expect(widest * ROWS_AT_ONCE).toBeLessThan(32_766)
})

test('a file is filled with every row and its mark, in the order of the tables, and has no log', async () => {
  const file = join(temporary(), 'copy.db')
  const asked: string[] = []
  const source: RowSource = async function* (table) {
    asked.push(table)
    if (table !== 'names') return
    yield [{ user_id: 1, username: 'alice' }]
    yield [{ user_id: 2, username: 'bobby' }]
  }
  const mark = { flag: 'arriving', id: 'one', place: 'there', at: '2026-01-01T00:00:00Z' } as const
  await fillFile(file, source, mark)
  expect(existsSync(`${file}-wal`)).toBe(false)
  using database = new DatabaseSync(file)
  expect(examine(database)).toMatchObject({ version: NEWEST_VERSION, mark })
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
  expect(database.prepare('SELECT username FROM names ORDER BY user_id').all()).toEqual([
    { username: 'alice' },
    { username: 'bobby' },
  ])
  expect(asked).toEqual(CARRIED_TABLES)
})

test('a row that does not fit rejects, and nothing is written', async () => {
  const file = join(temporary(), 'copy.db')
  const source: RowSource = async function* (table) {
    if (table === 'names') yield [{ user_id: 1, username: null }]
  }
  await expect(fillFile(file, source)).rejects.toThrow('NOT NULL')
})

test('keys that people list are found with their people and dates', async () => {
  const store = await open(temporary())
  const keys = [
    { keyId: 'a'.repeat(16), userId: 1, sinceMs: 10 },
    { keyId: 'a'.repeat(16), userId: 2, sinceMs: 20 },
    { keyId: 'b'.repeat(16), userId: 1, sinceMs: 30 },
  ]
  await store.write((db) => new EncryptionKeyRows(db).add(keys))
  const found = (ids: string[]) => store.read((db) => new EncryptionKeyRows(db).of(ids))
  expect(await found(['a'.repeat(16)])).toEqual(keys.slice(0, 2))
  expect(await found(['b'.repeat(16), 'c'.repeat(16)])).toEqual(keys.slice(2))
})
