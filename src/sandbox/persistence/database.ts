import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect, type Generated, type SqliteDatabase } from 'kysely'
import { OperatorError } from '../../errors.ts'

/** A record of any kind; `n` holds the order in which entries came. */
export interface Row {
  kind: string
  owner: string
  key: string
  /** JSON, or octets. */
  value: string | Uint8Array
}
export interface Schema {
  records: Row & { n: Generated<number> }
}

/** `PSBX`: tells a sandbox's file from anybody else's. */
const APPLICATION_ID = 0x50534258
/** Of the records; a file of a newer one is refused. */
const FORMAT = 1

const HEADER = 'SQLite format 3\0'
const AT = { format: 60, application: 68 } as const

/** See `FilePersistence.open`. Everything that can be refused is refused while only looking. */
export async function openDatabase(file: string): Promise<{ db: Kysely<Schema>; rows: Row[] }> {
  try {
    if (!existsSync(file)) create(file)
    look(file)
    const database = connect(file)
    const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(database) }) })
    const columns = ['kind', 'owner', 'key', 'value'] as const
    const rows = await db.selectFrom('records').select(columns).orderBy('n').execute()
    return { db, rows }
  } catch (error) {
    throw toOperatorError(error, file)
  }
}

/** A new file is made beside and linked into its place, whole; it never replaces one. */
function create(file: string): void {
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

/** Whose file it is, by its first octets, and whether it is whole; nothing is written. */
function look(file: string): void {
  const header = Buffer.alloc(100)
  if (!statSync(file).isFile()) throw foreign(file)
  const fd = openSync(file, 'r')
  try {
    if (readSync(fd, header) < header.length) throw foreign(file)
  } finally {
    closeSync(fd)
  }
  const isOurs = header.readUInt32BE(AT.application) === APPLICATION_ID
  if (header.toString('latin1', 0, HEADER.length) !== HEADER || !isOurs) throw foreign(file)
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
    if (found?.['quick_check'] !== 'ok') throw broken(file)
    for (const row of database.prepare('SELECT key, value FROM records').iterate()) {
      JSON.parse(String(row['key']))
      if (typeof row['value'] === 'string') JSON.parse(row['value'])
    }
  } finally {
    database.close()
  }
}

/** What is committed survives the death of this process; nobody else may open it meanwhile. */
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

const BUSY = 5
const FULL = 13
const BROKEN = new Set([11, 26])

/** What an error of SQLite or of the file system means to who runs the sandbox. */
export function toOperatorError(error: unknown, file: string): unknown {
  if (error instanceof OperatorError) return error
  if (error instanceof SyntaxError) return broken(file, error)
  const { errcode, code, syscall } = error as Record<string, unknown>
  if (typeof errcode === 'number') {
    const result = errcode & 0xff
    if (result === BUSY) {
      return new OperatorError(
        'store-in-use',
        `${file} is in use by another sandbox`,
        'end that one first, or name another file',
        { cause: error },
      )
    }
    if (result === FULL) {
      return new OperatorError(
        'store-unwritable',
        `${file} cannot be written: the disk is full`,
        'make room; nothing that was acknowledged is lost',
        { cause: error },
      )
    }
    if (BROKEN.has(result)) return broken(file, error)
  }
  const why = typeof syscall === 'string' ? `opened: ${String(code)}` : 'written'
  return new OperatorError(
    'store-unwritable',
    `${file} cannot be ${why}`,
    'name a file in a directory that you can write to',
    { cause: error },
  )
}

function foreign(file: string): OperatorError {
  const message = `${file} is no sandbox’s world`
  return new OperatorError('store-corrupt', message, 'name another file; this one was not changed')
}

function broken(file: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'store-corrupt',
    `${file} is broken`,
    'put a copy of it back, or name another file; this one was not changed',
    { cause },
  )
}
