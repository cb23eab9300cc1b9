import { DatabaseSync } from 'node:sqlite'
import { sql, type Kysely } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { kyselyOf } from '../../src/store/sqlite.ts'

interface Words {
  words: { id: number; word: string }
}

function scene() {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)')
  const prepare = vi.spyOn(database, 'prepare')
  const db = kyselyOf(database) as unknown as Kysely<Words>
  onTestFinished(() => {
    if (database.isOpen) database.close()
  })
  return { database, db, prepare }
}

test('a statement is prepared once, and the hundred most recently used statements stay prepared', async () => {
  const { db, prepare } = scene()
  const run = async (n: number): Promise<unknown> =>
    (await sql<{ n: number }>`SELECT ${sql.lit(n)} AS n, ${n} AS again`.execute(db)).rows[0]
  const prepared = async (n: number): Promise<boolean> => {
    prepare.mockClear()
    expect(await run(n)).toEqual({ n, again: n })
    return prepare.mock.calls.length > 0
  }
  for (let n = 0; n < 100; n++) expect(await prepared(n)).toBe(true)
  for (const n of [0, 99]) expect(await prepared(n)).toBe(false)
  // the least recently used one goes, and no other
  expect(await prepared(100)).toBe(true)
  expect([await prepared(0), await prepared(1)]).toEqual([false, true])
})

test('a transaction that SQLite rolled back itself fails with the error of its cause', async () => {
  const { db, database } = scene()
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('words').values({ id: 1, word: 'one' }).execute()
    await sql`ROLLBACK`.execute(transaction)
    throw new Error('the disk is full')
  })
  await expect(failing).rejects.toThrow('the disk is full')
  expect(database.isTransaction).toBe(false)
})

test('a Kysely connection can be destroyed although its database is closed', async () => {
  const { db, database } = scene()
  await db.selectFrom('words').selectAll().execute()
  await db.destroy()
  expect(database.isOpen).toBe(false)
  const other = scene()
  await other.db.selectFrom('words').selectAll().execute()
  other.database.close()
  await expect(other.db.destroy()).resolves.toBeUndefined()
})
