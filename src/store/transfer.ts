/** Every row of a store, carried from one database into another, and compared. */
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { TimeSlice } from '../util/time-slice.ts'
import { NodeSqliteDialect } from './dialect.ts'
import { ARRIVING, MOVED_TO } from './moved.ts'
import type { Schema } from './schema.ts'

/** What is carried, in this order; all of a store is in these. */
export const CARRIED_TABLES = [
  'protection',
  'secrets',
  'own_keys',
  'chats',
  'people',
  'names',
  'certificates',
  'pins',
  'key_changes',
  'trust_policies',
  'lists',
  'seen',
  'confirmed',
  'encryption_keys',
  'media',
  'flags',
  'journal',
  'outcomes',
  'sent',
  'webhook',
  'presses',
] as const satisfies readonly (keyof Schema)[]

/** One row, as either database gives it. */
export type Row = Record<string, unknown>

/** Where rows come from: all of a table, as it is at one moment. */
export interface RowSource {
  rows(table: keyof Schema): AsyncIterable<Row[]>
}

/** How much of a table there is, and what is in it, whatever the order of its rows. */
export interface TableDigest {
  rows: number
  /** Hexadecimal. */
  digest: string
}

/** Rows that go in one statement. */
const AT_ONCE = 100
const DIGEST_MODULUS = 2n ** 256n

/** Writes all rows of a source into a database whose tables are empty. */
export async function carry(source: RowSource, db: Kysely<Schema>): Promise<void> {
  const slice = new TimeSlice()
  for (const table of CARRIED_TABLES) {
    for await (const rows of source.rows(table)) {
      for (let at = 0; at < rows.length; at += AT_ONCE) {
        await db
          .insertInto(table)
          .values(rows.slice(at, at + AT_ONCE))
          .execute()
        await slice.yieldIfOver()
      }
    }
  }
}

/** Counts and digests of every table, without what a move has marked. */
export async function digestAll(source: RowSource): Promise<Record<string, TableDigest>> {
  const digests: Record<string, TableDigest> = {}
  const slice = new TimeSlice()
  for (const table of CARRIED_TABLES) {
    let [count, sum] = [0, 0n]
    for await (const rows of source.rows(table)) {
      for (const row of rows) {
        if (table === 'flags' && isMark(row)) continue
        count += 1
        sum = (sum + digestOf(row)) % DIGEST_MODULUS
        await slice.yieldIfOver()
      }
    }
    digests[table] = { rows: count, digest: sum.toString(16) }
  }
  return digests
}

const isMark = ({ name }: Row): boolean => name === ARRIVING || name === MOVED_TO

function digestOf(row: Row): bigint {
  const fields = Object.keys(row)
    .toSorted()
    .map((name) => [name, plain(row[name])])
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(fields)).digest('hex')}`)
}

/** A value as both databases give it; their texts differ in NUL alone, which one does not know. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') }
  return typeof value === 'string' ? value.replaceAll('\0', '\u{FFFD}') : value
}

/** The rows of a database file. Nothing may write to it meanwhile. */
export class FileRows implements RowSource {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async *rows(table: keyof Schema): AsyncIterable<Row[]> {
    let some: Row[] = []
    for (const row of this.#database.prepare(`SELECT * FROM ${table}`).iterate()) {
      some.push(row)
      if (some.length < AT_ONCE) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }
}

/** Kysely over a database file. */
export function kyselyOf(database: DatabaseSync): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new NodeSqliteDialect(database) })
}
