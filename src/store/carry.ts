/** Every row of a store, carried from one database into another. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { TimeSlice } from '../util/scheduling.ts'
import { newDatabase } from './create.ts'
import { kyselyOf } from './sqlite.ts'
import { TABLES } from './tables.ts'
import { setMark, type MoveMark } from './flags.ts'
import type { Schema } from './schema.ts'

/** All tables of a store, in the order in which they are copied. */
export const CARRIED_TABLES = Object.keys(TABLES) as (keyof Schema)[]

/** One row, as either database gives it. */
export type Row = Record<string, unknown>

/** Gives all rows of a table, as it is at one moment, `ROWS_AT_ONCE` at a time. */
export type RowSource = (table: keyof Schema) => AsyncIterable<Row[]>

/** Rows that are read, and written, in one statement. */
export const ROWS_AT_ONCE = 250

/** Writes all rows of a source into a database whose tables are empty. */
export async function carry(source: RowSource, db: Kysely<Schema>): Promise<void> {
  const slice = new TimeSlice()
  for (const table of CARRIED_TABLES) {
    for await (const rows of source(table)) {
      await db.insertInto(table).values(rows).execute()
      await slice.yieldIfOver()
    }
  }
}

/** The rows of a table of a database file. Nothing may write to it meanwhile. */
export async function* rowsIn(database: DatabaseSync, table: keyof Schema): AsyncIterable<Row[]> {
  let some: Row[] = []
  for (const row of database.prepare(`SELECT * FROM ${table}`).iterate()) {
    some.push(row)
    if (some.length < ROWS_AT_ONCE) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/**
 * Fills a new file with all rows of a source; it is whole, without a log, and on disk when this
 * resolves.
 * @param file must not exist; the caller removes an incomplete one when this rejects
 * @param mark is written into it
 * @throws an error of node:fs or node:sqlite, and errors of reading the source
 */
export async function fillFile(
  file: string,
  source: RowSource,
  mark: MoveMark | null = null,
): Promise<void> {
  using database = newDatabase(file)
  await kyselyOf(database)
    .transaction()
    .execute(async (transaction) => {
      await carry(source, transaction)
      await setMark(transaction, mark)
    })
  database.exec('PRAGMA journal_mode=DELETE')
}
