import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { ROWS_AT_ONCE, type Row, type RowSource } from '../carry.ts'
import { quoted } from './schema.ts'
import type { PostgresServer } from './server.ts'

/** Runs something with all rows of a store as they are at one moment. */
export async function withRows<T>(
  server: PostgresServer,
  schema: string,
  use: (rows: RowSource) => Promise<T>,
): Promise<T> {
  const transaction = server.databaseFor(schema).transaction().setIsolationLevel('repeatable read')
  return await transaction.execute(async (db) => {
    // the caller writes to the other database meanwhile, for any length of time
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(db)
    return await use((table) => rowsIn(db, `${quoted(schema)}.${table}`))
  })
}

async function* rowsIn(db: Kysely<Schema>, table: string): AsyncIterable<Row[]> {
  await sql.raw(`DECLARE carried NO SCROLL CURSOR FOR SELECT * FROM ${table}`).execute(db)
  try {
    for (;;) {
      const { rows } = await sql.raw<Row>(`FETCH ${ROWS_AT_ONCE} FROM carried`).execute(db)
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    await sql`CLOSE carried`.execute(db)
  }
}
