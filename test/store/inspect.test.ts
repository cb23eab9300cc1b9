import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { OperatorError } from '../../src/errors.ts'
import { copiesIn, examine, explain, inspect, look, whatIsThere } from '../../src/store/inspect.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { connected, sqliteError, temporary, madeFolder, zeroPages } from './support.ts'

/** A database with one word in its log, that somebody has open. */
function withLog(): { dataDir: string; file: string; database: DatabaseSync } {
  const dataDir = temporary()
  const file = join(dataDir, 'postern.db')
  const database = connected(file)
  database.exec(
    "PRAGMA journal_mode=WAL; CREATE TABLE words (word); INSERT INTO words VALUES ('a')",
  )
  return { dataDir, file, database }
}

const wordIn = (database: DatabaseSync): unknown =>
  database.prepare('SELECT word FROM words').get()?.['word']

test.each([
  ['a database', ['postern.db', 'store.json'], 'database'],
  ['a marker', ['store.json'], 'traces'],
  ['a log', ['postern.db-wal'], 'traces'],
  ['a copy from before an upgrade', ['postern.v12.20260101T000000000Z.db'], 'traces'],
  ['one trace among others', ['a', 'store.json', 'z'], 'traces'],
  ['nothing', [], 'none'],
  [
    'files of another name',
    ['my-store.json', 'store.json.bak', 'a-postern.v1.db', 'postern.vx.db', 'postern.v1', 'x'],
    'none',
  ],
  ['a creation that was interrupted', ['postern.db.new-1'], 'none'],
])('`whatIsThere` recognises a data directory with %s', (_, names, found) => {
  const dataDir = temporary()
  for (const name of names) writeFileSync(join(dataDir, name), '')
  expect(whatIsThere(dataDir)).toBe(found)
})

test('`copiesIn` lists migration copies by name', () => {
  const dataDir = temporary()
  const copies = ['postern.v10.a.db', 'postern.v12.a.db', 'postern.v2.a.db', 'postern.v9.a.db']
  for (const name of [...copies.toReversed(), 'postern.db', 'other']) {
    writeFileSync(join(dataDir, name), '')
  }
  expect(copiesIn(dataDir)).toEqual(copies)
})

test('`look` reads rows of the log and leaves no file behind', () => {
  const { dataDir, file } = withLog()
  const left = temporary()
  // as a process that was killed leaves it
  for (const name of ['postern.db', 'postern.db-wal']) {
    copyFileSync(join(dataDir, name), join(left, name))
  }
  expect(look(join(left, 'postern.db'), wordIn)).toBe('a')
  expect(readdirSync(left)).toEqual(['postern.db', 'postern.db-wal'])
  expect(look(file, wordIn)).toBe('a')
  // whoever has it open still uses it
  expect(existsSync(`${file}-shm`)).toBe(true)
})

test('`look` reads once more where another process began to write', () => {
  const { database, file } = withLog()
  database.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
  const torn = new Error('torn')
  let turns = 0
  const word = look(file, (seen) => {
    if (++turns > 1) return wordIn(seen)
    connected(file).exec("UPDATE words SET word = 'b'")
    throw torn
  })
  expect([word, turns]).toEqual(['b', 2])
})

test('`look` throws the error of its reader once and closes the database', () => {
  const { database, file } = withLog()
  const mistake = new Error('a mistake')
  const seen: DatabaseSync[] = []
  const failing = (open: DatabaseSync): never => {
    seen.push(open)
    throw mistake
  }
  expect(() => look(file, failing)).toThrow(mistake)
  database.close()
  expect(() => look(file, failing)).toThrow(mistake)
  expect(seen.map(({ isOpen }) => isOpen)).toEqual([false, false])
})

/** Overwrites the first page of a table in the database of a new store. @returns its data directory */
async function damaged(table: string): Promise<string> {
  const dataDir = await madeFolder()
  const file = join(dataDir, 'postern.db')
  const database = connected(file)
  const query = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?')
  const page = Number(query.get(table)?.['rootpage'])
  database.close()
  zeroPages(file, page - 1)
  return dataDir
}

const DAMAGED = { code: 'store-corrupt' }

test('`inspect` checks every table except the replay memory', async () => {
  const dataDir = await damaged('seen')
  expect(inspect(dataDir)).toMatchObject({ version: NEWEST_VERSION })
  using database = connected(join(dataDir, 'postern.db'))
  expect(() => examine(database)).toThrow(expect.objectContaining(DAMAGED))
})

test.each(['chats', 'own_keys', 'pins', 'webhook'])(
  '`inspect` refuses a damaged table %s',
  async (table) => {
    const dataDir = await damaged(table)
    expect(() => inspect(dataDir)).toThrow(expect.objectContaining(DAMAGED))
  },
)

test('`explain` maps SQLite errors to refusals and returns other errors unchanged', () => {
  const explained = (errcode: number) => explain(sqliteError(errcode), '/d') as OperatorError
  expect([5, 6].map((code) => explained(code).code)).toEqual(['store-in-use', 'store-in-use'])
  expect(explained(10)).toMatchObject({
    code: 'store-unwritable',
    message: '/d cannot be written: SQLite’s result is 10',
    cause: { errcode: 10 },
  })
  expect(explained(26)).toMatchObject({
    code: 'store-corrupt',
    message: 'the store is damaged: its file is not a sound database',
    cause: { errcode: 26 },
  })
  const other = new Error('a mistake')
  expect(explain(other, '/d')).toBe(other)
})
