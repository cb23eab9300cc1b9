import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { OperatorError } from '../../src/errors.ts'
import { copiesIn, examine, explain, inspect, look, whatIsThere } from '../../src/store/inspect.ts'
import { FIRST_VERSION, NEWEST_VERSION } from '../../src/store/migrations.ts'
import { claim } from '../../src/store/owner.ts'
import { connected, sqliteError, temporary, madeFolder, zeroPages } from './support.ts'

/** The database of a new store. */
async function store(passphrase: string | null = null): Promise<DatabaseSync> {
  const dataDir = await madeFolder(passphrase)
  return connected(join(dataDir, 'postern.db'))
}

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

describe('what a data directory shows', () => {
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
  ])('%s', (_, names, found) => {
    const dataDir = temporary()
    for (const name of names) writeFileSync(join(dataDir, name), '')
    expect(whatIsThere(dataDir)).toBe(found)
  })

  test('nothing where it is not there', () => {
    expect(whatIsThere(join(temporary(), 'not-there'))).toBe('none')
  })

  test('copies are listed by name', () => {
    const dataDir = temporary()
    const copies = ['postern.v10.a.db', 'postern.v12.a.db', 'postern.v2.a.db', 'postern.v9.a.db']
    for (const name of [...copies.toReversed(), 'postern.db', 'other']) {
      writeFileSync(join(dataDir, name), '')
    }
    expect(copiesIn(dataDir)).toEqual(copies)
  })
})

describe('looking into a database', () => {
  test('reads what only its log holds, and leaves the folder as it was', () => {
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

  test('looks once more where somebody has begun to write since', () => {
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

  test('throws what reading throws, once, and closes what it has opened', () => {
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
})

describe('a database is taken', () => {
  test('with its version, and its protection where it has one', async () => {
    const nothing = { protection: null, mark: null, botId: null }
    expect(examine(await store())).toEqual({ version: NEWEST_VERSION, ...nothing })
    const database = await store('words')
    const { version, protection } = examine(database)
    expect(version).toBe(NEWEST_VERSION)
    expect(protection).toMatchObject({ id: 1, method: 'passphrase' })
    expect(protection?.master).toBeInstanceOf(Uint8Array)
  })

  test.each<[what: string, statement: string, code: string, message: string]>([
    [
      'of another program',
      'PRAGMA application_id = 1',
      'store-corrupt',
      'not a database of Postern',
    ],
    ['without a version', 'PRAGMA user_version = 0', 'store-corrupt', 'not a database of Postern'],
    [
      'of before 0.1.0',
      `PRAGMA user_version = ${FIRST_VERSION - 1}`,
      'store-older',
      `has version ${FIRST_VERSION - 1}, from before Postern 0.1.0`,
    ],
    ['of a later version', 'PRAGMA user_version = 99', 'store-newer', 'has version 99'],
    [
      'with secrets, and no protection',
      "INSERT INTO secrets VALUES ('a', x'00')",
      'store-corrupt',
      'the record of its protection is gone',
    ],
    [
      'with keys, and no protection',
      `INSERT INTO own_keys (fingerprint, state, created_at, certificate, locked)
       VALUES ('a', 'retired', 1, 'c', 'l')`,
      'store-corrupt',
      'the record of its protection is gone',
    ],
    [
      'with a row that breaks a rule',
      'PRAGMA ignore_check_constraints=ON; INSERT INTO webhook (id) VALUES (2)',
      'store-corrupt',
      'does not pass SQLite’s check',
    ],
  ])('but not one %s', async (_, statement, code, message) => {
    const database = await store()
    database.exec(statement)
    const file = database.location() ?? ''
    database.close()
    expect(() => examine(connected(file))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
  })
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

describe('a start', () => {
  const DAMAGED = { code: 'store-corrupt' }

  test('checks every table but the memory against replays, with which it would grow', async () => {
    const dataDir = await damaged('seen')
    expect(inspect(dataDir)).toMatchObject({ version: NEWEST_VERSION })
    using database = connected(join(dataDir, 'postern.db'))
    expect(() => examine(database)).toThrow(expect.objectContaining(DAMAGED))
  })

  test.each(['chats', 'own_keys', 'pins', 'webhook'])('refuses a damaged %s', async (table) => {
    const dataDir = await damaged(table)
    expect(() => inspect(dataDir)).toThrow(expect.objectContaining(DAMAGED))
  })
})

describe('what goes wrong while looking is said', () => {
  test('by whom the store is held', async () => {
    const dataDir = await madeFolder()
    const holder = connected(join(dataDir, 'postern.db'))
    holder.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE; COMMIT')
    claim(dataDir)
    expect(() => inspect(dataDir)).toThrow(
      expect.objectContaining({
        code: 'store-in-use',
        message: expect.stringContaining(`${dataDir} is in use by process ${process.pid}`),
      }),
    )
  })

  test('for a database that is a folder', () => {
    const dataDir = temporary()
    mkdirSync(join(dataDir, 'postern.db'))
    expect(() => inspect(dataDir)).toThrow(/cannot be written: SQLite’s result is \d+$/)
  })

  test('by what SQLite means; what is of anybody else stays', () => {
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
})
