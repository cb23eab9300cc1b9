/** The connection of all records, and the statements that they share. */
import type { DatabaseSync } from 'node:sqlite'
import { sql, type InsertObject, type Kysely, type UpdateObject } from 'kysely'
import { coveredOf, type RowSeal, type SealedTable } from '../row-seal.ts'
import type { Schema, SchemaRow } from '../schema.ts'

/** Records within one read or write; many have rows that carry a MAC. */
export class Rows {
  protected readonly db: Kysely<Schema>
  protected readonly seal: RowSeal

  constructor(db: Kysely<Schema>, seal: RowSeal) {
    this.db = db
    this.seal = seal
  }

  /** The sound rows whose columns have these values, or one of them; null: all rows. */
  async sound<T extends SealedTable>(table: T, where: Where<T> | null): Promise<SchemaRow<T>[]> {
    return this.seal.sound(table, (await findRows(this.db, table, where)) as never[])
  }

  /** Changes the sound rows whose columns have all of these values. @returns whether there are any */
  async change<T extends SealedTable>(
    table: T,
    where: Where<T>,
    set: Partial<SchemaRow<T>>,
  ): Promise<boolean> {
    const found = await this.sound(table, where)
    for (const row of found) {
      const { mac } = this.seal.seal(table, { ...row, ...set } as never)
      await changeRows(this.db, table as 'flags', coveredOf(table, row), { ...set, mac })
    }
    return found.length > 0
  }
}

type Where<T extends keyof Schema> = {
  [Column in keyof SchemaRow<T>]?: NonNullable<SchemaRow<T>[Column]> | readonly (string | number)[]
}

/** Inserts rows of the same columns and different keys; where a key exists, changes its columns. */
export async function upsert<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  key: (keyof Schema[T] & string) | readonly (keyof Schema[T] & string)[],
  rows: InsertObject<Schema, T> | readonly InsertObject<Schema, T>[],
): Promise<void> {
  const columns = Object.keys([rows].flat()[0] ?? {})
  const given = columns.map((column) => [column, sql.ref(`excluded.${column}`)])
  await db
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns([key].flat() as never[]).doUpdateSet(Object.fromEntries(given) as never),
    )
    .execute()
}

/** Inserts rows; a row whose key exists stays as it is. */
export async function insertNew<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  rows: InsertObject<Schema, T> | readonly InsertObject<Schema, T>[],
): Promise<void> {
  const insert = db.insertInto(table).values(rows)
  await insert.onConflict((conflict) => conflict.doNothing()).execute()
}

/** Changes the rows whose columns have all of these values. @returns whether there are any */
export async function changeRows<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  where: Partial<SchemaRow<T>>,
  set: UpdateObject<Schema, T>,
): Promise<boolean> {
  // one table for all, or the types of Kysely are too many
  const rows = db.updateTable(table as 'flags').where((is) => is.and(where))
  const { numUpdatedRows } = await rows.set(set as never).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The rows whose columns have these values, or one of them; null: all rows. */
export async function findRows<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  where: Where<T> | null,
): Promise<SchemaRow<T>[]> {
  // one table for all, or the types of Kysely are too many
  let rows = db.selectFrom(table as 'flags').selectAll()
  for (const [column, value] of Object.entries(where ?? {})) {
    rows = rows.where(column as 'name', 'in', [value].flat() as string[])
  }
  return (await rows.execute()) as unknown as SchemaRow<T>[]
}

/** A row whose columns have all of these values; undefined where there is none. */
export const findRow = async <T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  where: Where<T>,
): Promise<SchemaRow<T> | undefined> => (await findRows(db, table, where))[0]

/** The value of a flag; null where there is none. */
export const readFlag = async (db: Kysely<Schema>, name: string): Promise<string | null> =>
  (await findRow(db, 'flags', { name }))?.value ?? null

/** The same in a database file. */
export function flagIn(database: DatabaseSync, name: string): string | null {
  const row = database.prepare('SELECT value FROM flags WHERE name = ?').get(name)
  return row === undefined ? null : String(row['value'])
}

/** Sets a flag; null removes it. */
export async function writeFlag(
  db: Kysely<Schema>,
  name: string,
  value: string | null,
): Promise<void> {
  if (value === null) await db.deleteFrom('flags').where('name', '=', name).execute()
  else await upsert(db, 'flags', 'name', { name, value })
}

/** Lists of at most `size`, for statements that would be too long or hold others up. */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
    all.slice(n * size, (n + 1) * size),
  )
