/** Rows of one database file in another. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CARRIED_TABLES, fillFile, ROWS_AT_ONCE, rowsIn } from '../../src/store/carry.ts'
import type { Row, RowSource } from '../../src/store/carry.ts'
import { examine } from '../../src/store/inspect.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

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
  ['no rows', 0, []],
  ['three rows', 3, [3]],
  ['a full batch', ROWS_AT_ONCE, [ROWS_AT_ONCE]],
  ['one row more than a batch', ROWS_AT_ONCE + 1, [ROWS_AT_ONCE, 1]],
])('`rowsIn` returns %s in batches of one statement', async (_, count, pieces) => {
  expect(await piecesOf(count)).toEqual(pieces)
})

test('a batch of the widest table has fewer parameters than SQLite allows', async () => {
  const file = join(temporary(), 'copy.db')
  await fillFile(file, async function* () {})
  using database = new DatabaseSync(file)
  const columns = database.prepare('SELECT count(*) AS n FROM pragma_table_info(?)')
  const widest = Math.max(...CARRIED_TABLES.map((table) => Number(columns.get(table)?.['n'])))
  expect(widest * ROWS_AT_ONCE).toBeLessThan(32_766)
})

test('`fillFile` writes every row and the move mark in table order, without a log', async () => {
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
