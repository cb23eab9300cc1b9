/** Makes a database file out of the rows of another store. */
import { createEmpty } from './files.ts'
import { migrate } from './migrate.ts'
import { APPLICATION_ID, connectExclusive } from './sqlite.ts'
import { carry, kyselyOf, type RowSource } from './transfer.ts'

/**
 * Fills a new file with all rows of a source; it is whole and on disk when this resolves.
 * @param file must not exist; what is left of it when this rejects is the caller's to remove
 * @throws an error of node:fs or node:sqlite, and what reading the source throws
 */
export async function fillFile(file: string, source: RowSource): Promise<void> {
  createEmpty(file)
  const database = connectExclusive(file)
  try {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    migrate(database, file)
    await kyselyOf(database)
      .transaction()
      .execute((transaction) => carry(source, transaction))
  } finally {
    database.close()
  }
}
