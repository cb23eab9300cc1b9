/** A store as the last version made it that locked its keys under the passphrase itself. */
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** What opens it, and what is in it. */
export const BEFORE = {
  passphrase: 'words of before',
  version: 7,
  replay: 'bcdcec43fecab251e4143f9fc391860ed3f391be5c1fef1fef3b2cab5c7a2716',
  webhook: 'of the webhook',
  keys: {
    retired: '158532f5de8d406c6a263036bd5bf68bc4b8d917',
    active: '2531802eb413587a94ac7b68def2b3d7d9d81888',
    pending: 'b5cc9b44b5558fb653832e896bc401095ff86c34',
  },
}

/** Writes it into a data directory, which is made. */
export function writeStoreOfBefore(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'postern.db')
  const database = new DatabaseSync(file)
  chmodSync(file, 0o600)
  database.exec('BEGIN')
  const fixture = join(import.meta.dirname, 'fixtures/before-master-secret.sql')
  const text = readFileSync(fixture, 'utf8')
  // Pragmas of the header, which no transaction takes.
  const [application = '', version = '', ...tables] = text.split('\n')
  database.exec(tables.join('\n'))
  database.exec('COMMIT')
  database.exec(application)
  database.exec(version)
  database.close()
}

/** The locked keys of a database file, as they stand in it. */
export function lockedKeysIn(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare("SELECT locked FROM own_keys WHERE locked != ''").all()
  database.close()
  return rows.map((row) => String(row['locked']))
}
