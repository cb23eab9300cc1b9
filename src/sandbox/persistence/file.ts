import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError, type OperatorCode } from '../../errors.ts'

/** `PSBX`: marks a file of the sandbox. */
const APPLICATION_ID = 0x50534258
/** Version of the records; a file of a newer version is refused. */
const FORMAT = 1

const HEADER = 'SQLite format 3\0'
const AT = { format: 60, application: 68 } as const

const DELETE = 'DELETE FROM records WHERE kind = ? AND owner = ? AND key = ?'
const PUT = `
  INSERT INTO records (kind, owner, key, value) VALUES (?, ?, ?, ?)
  ON CONFLICT (kind, owner, key) DO UPDATE SET value = excluded.value`

/** A record of any kind, detached from its map. Rows of one map are in the order of its entries. */
export interface RecordRow {
  kind: string
  owner: string
  /** JSON. */
  key: string
  /** JSON, or bytes. */
  value: string | Uint8Array
}

/** The file of a world, which this process alone has open. Errors are OperatorErrors. */
export type WorldFile = ReturnType<typeof openWorldFile>['file']

/**
 * Opens a file, or creates it (mode 0600). Checks everything before it opens it for writing.
 * @throws OperatorError when it is in use, corrupt, another program's or a newer version's; the
 *   file is not changed then
 */
export function openWorldFile(path: string) {
  try {
    if (!existsSync(path)) createFile(path)
    verifyFile(path)
    const database = connect(path)
    const stored = database.prepare('SELECT kind, owner, key, value FROM records ORDER BY n')
    const rows = stored.all() as unknown as RecordRow[]
    return { file: worldFile(path, database), rows }
  } catch (error) {
    throw toOperatorError(error, path)
  }
}

const worldFile = (path: string, database: DatabaseSync) => ({
  /** Deletes some records or all, then adds or changes others, in one transaction. */
  write: (
    deleted: 'all' | readonly Omit<RecordRow, 'value'>[],
    rows: readonly RecordRow[],
  ): void => {
    try {
      database.exec('BEGIN IMMEDIATE')
      if (deleted === 'all') database.exec('DELETE FROM records')
      else {
        const remove = database.prepare(DELETE)
        for (const { kind, owner, key } of deleted) remove.run(kind, owner, key)
      }
      const put = database.prepare(PUT)
      for (const { kind, owner, key, value } of rows) put.run(kind, owner, key, value)
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw toOperatorError(error, path)
    }
  },
  close: (): void => database.close(),
})

/** Creates a complete file beside and links it into its place; it never replaces a file. */
function createFile(file: string): void {
  const unfinished = `${file}.new-${randomUUID()}`
  closeSync(openSync(unfinished, 'wx', 0o600))
  try {
    using database = new DatabaseSync(unfinished)
    database.exec(`
      PRAGMA application_id = ${APPLICATION_ID};
      PRAGMA user_version = ${FORMAT};
      -- n keeps the order in which entries were added
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
  if (!statSync(file).isFile()) throw refusal(file, NOT_OURS)
  const fd = openSync(file, 'r')
  try {
    if (readSync(fd, header) < header.length) throw refusal(file, NOT_OURS)
  } finally {
    closeSync(fd)
  }
  const isOurs = header.readUInt32BE(AT.application) === APPLICATION_ID
  if (!isOurs || !header.toString('latin1').startsWith(HEADER)) throw refusal(file, NOT_OURS)
  const format = header.readUInt32BE(AT.format)
  if (format > FORMAT) {
    const problem = `was written by a newer version (format ${format}, this one knows ${FORMAT})`
    const hint = 'use that version, or name another file; this one was not changed'
    throw refusal(file, ['store-newer', problem, hint])
  }
  using database = new DatabaseSync(file, { readOnly: true })
  const [found] = database.prepare('PRAGMA quick_check(1)').all()
  if (found?.['quick_check'] !== 'ok') throw refusal(file, CORRUPT)
  for (const row of database.prepare('SELECT key, value FROM records').iterate()) {
    JSON.parse(String(row['key']))
    if (typeof row['value'] === 'string') JSON.parse(row['value'])
  }
}

/** Opens the file for this process alone. Committed rows survive the death of the process. */
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

type FileRefusal = [code: OperatorCode, problem: string, hint: string]

const NOT_OURS: FileRefusal = [
  'store-corrupt',
  'is no sandbox’s world',
  'name another file; this one was not changed',
]
const CORRUPT: FileRefusal = [
  'store-corrupt',
  'is broken',
  'put a copy of it back, or name another file; this one was not changed',
]
/** By result code of SQLite: BUSY, FULL, CORRUPT and NOTADB. */
const REFUSALS: Partial<Record<number, FileRefusal>> = {
  5: ['store-in-use', 'is in use by another sandbox', 'end that one first, or name another file'],
  13: [
    'store-unwritable',
    'cannot be written: the disk is full',
    'make room; nothing that was acknowledged is lost',
  ],
  11: CORRUPT,
  26: CORRUPT,
}

/** Turns an error of SQLite or of the file system into one for the operator. */
function toOperatorError(error: unknown, file: string): unknown {
  if (error instanceof OperatorError) return error
  const { errcode, code, syscall } = error as Record<string, unknown>
  const known = error instanceof SyntaxError ? CORRUPT : REFUSALS[Number(errcode) & 0xff]
  const problem = typeof syscall === 'string' ? `opened: ${String(code)}` : 'written'
  const hint = 'name a file in a directory that you can write to'
  return refusal(file, known ?? ['store-unwritable', `cannot be ${problem}`, hint], error)
}

const refusal = (file: string, [code, problem, hint]: FileRefusal, cause?: unknown) =>
  new OperatorError(code, `${file} ${problem}`, hint, { cause })
