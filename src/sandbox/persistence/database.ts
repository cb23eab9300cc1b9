import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect, type Generated, type SqliteDatabase } from 'kysely'
import { OperatorError } from '../../errors.ts'
import type { RecordRow } from './persistence.ts'

/** `n` keeps the order in which entries were added. */
export interface WorldDatabase {
  records: RecordRow & { n: Generated<number> }
}

/** `PSBX`: marks a file of the sandbox. */
const APPLICATION_ID = 0x50534258
/** Version of the records; a file of a newer version is refused. */
const FORMAT = 1

const HEADER = 'SQLite format 3\0'
const AT = { format: 60, application: 68 } as const

/** See `FilePersistence.open`. Checks everything before it opens the file for writing. */
export async function openDatabase(
  file: string,
): Promise<{ db: Kysely<WorldDatabase>; rows: RecordRow[] }> {
  try {
    if (!existsSync(file)) createFile(file)
    verifyFile(file)
    const database = connect(file)
    const db = new Kysely<WorldDatabase>({
      dialect: new SqliteDialect({ database: adapt(database) }),
    })
    const columns = ['kind', 'owner', 'key', 'value'] as const
    const rows = await db.selectFrom('records').select(columns).orderBy('n').execute()
    return { db, rows }
  } catch (error) {
    throw toOperatorError(error, file)
  }
}

/** Creates a complete file beside and links it into its place; it never replaces a file. */
function createFile(file: string): void {
  const unfinished = `${file}.new-${randomUUID()}`
  closeSync(openSync(unfinished, 'wx', 0o600))
  try {
    const database = new DatabaseSync(unfinished)
    database.exec(`
      PRAGMA application_id = ${APPLICATION_ID};
      PRAGMA user_version = ${FORMAT};
      CREATE TABLE records (
        n INTEGER PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL,
        value ANY NOT NULL, UNIQUE (kind, owner, key)
      ) STRICT;`)
    database.close()
    linkSync(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** Checks without writing that the file is a sandbox's, and that it is intact. */
function verifyFile(file: string): void {
  const header = Buffer.alloc(100)
  if (!statSync(file).isFile()) throw notASandboxFile(file)
  const fd = openSync(file, 'r')
  try {
    if (readSync(fd, header) < header.length) throw notASandboxFile(file)
  } finally {
    closeSync(fd)
  }
  const isOurs = header.readUInt32BE(AT.application) === APPLICATION_ID
  if (header.toString('latin1', 0, HEADER.length) !== HEADER || !isOurs) throw notASandboxFile(file)
  const format = header.readUInt32BE(AT.format)
  if (format > FORMAT) {
    throw new OperatorError(
      'store-newer',
      `${file} was written by a newer version (format ${format}, this one knows ${FORMAT})`,
      'use that version, or name another file; this one was not changed',
    )
  }
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const [found] = database.prepare('PRAGMA quick_check(1)').all()
    if (found?.['quick_check'] !== 'ok') throw corruptFile(file)
    for (const row of database.prepare('SELECT key, value FROM records').iterate()) {
      JSON.parse(String(row['key']))
      if (typeof row['value'] === 'string') JSON.parse(row['value'])
    }
  } finally {
    database.close()
  }
}

/** Opens the file for this process alone. What is committed survives the death of the process. */
function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    database.exec('BEGIN IMMEDIATE; COMMIT')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function adapt(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql)
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as string[])),
        run: (values) => statement.run(...(values as string[])),
        iterate: (values) => statement.iterate(...(values as string[])),
      }
    },
  }
}

const SQLITE_BUSY = 5
const SQLITE_FULL = 13
const SQLITE_CORRUPT = new Set([11, 26])

/** Turns an error of SQLite or of the file system into one for the operator. */
export function toOperatorError(error: unknown, file: string): unknown {
  if (error instanceof OperatorError) return error
  if (error instanceof SyntaxError) return corruptFile(file, error)
  const { errcode, code, syscall } = error as Record<string, unknown>
  if (typeof errcode === 'number') {
    const result = errcode & 0xff
    if (result === SQLITE_BUSY) {
      return new OperatorError(
        'store-in-use',
        `${file} is in use by another sandbox`,
        'end that one first, or name another file',
        { cause: error },
      )
    }
    if (result === SQLITE_FULL) {
      return new OperatorError(
        'store-unwritable',
        `${file} cannot be written: the disk is full`,
        'make room; nothing that was acknowledged is lost',
        { cause: error },
      )
    }
    if (SQLITE_CORRUPT.has(result)) return corruptFile(file, error)
  }
  const why = typeof syscall === 'string' ? `opened: ${String(code)}` : 'written'
  return new OperatorError(
    'store-unwritable',
    `${file} cannot be ${why}`,
    'name a file in a directory that you can write to',
    { cause: error },
  )
}

function notASandboxFile(file: string): OperatorError {
  const message = `${file} is no sandbox’s world`
  return new OperatorError('store-corrupt', message, 'name another file; this one was not changed')
}

function corruptFile(file: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'store-corrupt',
    `${file} is broken`,
    'put a copy of it back, or name another file; this one was not changed',
    { cause },
  )
}
